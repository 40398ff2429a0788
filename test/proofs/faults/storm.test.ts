import { expect, onTestFinished, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, refundOf } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { query } from "../../helpers/postgres.ts";
import { startProgram } from "../../helpers/process.ts";
import { spawnServer } from "../../helpers/server.ts";
import { ROUNDS, record } from "./setup/figures.ts";

const CONNECTIONS = 800;
/** After which balancers count a probe as failed, in milliseconds. */
const PROBE_LIMIT_MS = 2_000;

/** Sends a probe every tenth of a second until its input ends, then prints what each took, failed ones as null. */
const PROBER = `
  import { setTimeout } from "node:timers/promises";
  const took = [];
  let ended = false;
  process.stdin.on("end", () => (ended = true)).resume();
  console.log("probing");
  while (!ended) {
    const startedAt = performance.now();
    const ok = await fetch(process.argv[1], { signal: AbortSignal.timeout(${PROBE_LIMIT_MS}) }).then((response) => response.ok, () => false);
    took.push(ok ? performance.now() - startedAt : null);
    await setTimeout(100);
  }
  console.log(JSON.stringify(took));`;

test("a crowd of new connections leaves nine of ten probes with a response in time, and every refund made once", async () => {
  const target = await startTarget();
  const server = await target.spawn();
  const took: (number | null)[] = [];
  const statuses = new Map<number, number>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    await using prober = startProgram(
      [process.execPath, "--input-type=module", "-e", PROBER, `${server.probeUrl}/readyz`],
      { stdin: { open: true } },
    );
    await prober.untilPrinted(/probing\n/);
    for (const status of await target.crowd(server.url))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    prober.child.stdin.end();
    const [, text = ""] = (await prober.exit).stdout.split("\n");
    took.push(...(JSON.parse(text) as (number | null)[]));
  }

  const sorted = took.filter((ms) => ms !== null).sort((a, b) => a - b);
  record("crowd of connections", {
    connections: ROUNDS * CONNECTIONS,
    refunds: statuses.get(201) ?? 0,
    probes: took.length,
    "failed probes": took.length - sorted.length,
    "ms for 99 of 100 probes": Math.round(sorted[Math.floor(0.99 * sorted.length)] ?? 0),
  });
  expect([...statuses.keys()].filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect(await target.countRefunds()).toBe(statuses.get(201));
  // Probes share the thread of calls; balancers take a server out only after several failed ones.
  expect(sorted.length / took.length).toBeGreaterThan(0.9);
});

/** A payment to refund, and servers in production mode, which respond to probes on a port of their own. */
async function startTarget() {
  const production = await startProduction();
  onTestFinished(production.end);
  const database = await production.database.open();
  const paymentId = await createPayment({ database }, { merchant: "merchant", amountCents: 9_999_999_00 });
  // Valid for longer than the test takes.
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const Authorization = `Bearer ${await production.issuer.token({ exp })}`;
  const issue = async (url: string) => {
    const body = JSON.stringify(refundOf(paymentId));
    using connection = await openConnection(url);
    connection.send(head("/v1/refunds", { Authorization, "Content-Length": body.length }) + body);
    return (await connection.response()).status;
  };
  return {
    async spawn() {
      const server = await spawnServer({ dataDir: "unused", env: { ...production.env, PROBE_PORT: "0" } });
      const { probeUrl } = JSON.parse(server.welcome.trim().split("\n").at(-1) ?? "") as { probeUrl: string };
      return { url: server.url, probeUrl };
    },
    /** Refunds on so many connections at once; resolves with the statuses. */
    crowd: (url: string) => Promise.all(Array.from({ length: CONNECTIONS }, () => issue(url))),
    async countRefunds() {
      const made = "select from payments where original_payment_id = $1";
      return (await query(production.url, made, [paymentId])).length;
    },
  };
}
