import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { readConfig } from "../../../server/config/config.ts";
import { startServer } from "../../../server/start.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { percentile, record, single } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";

/*
 * How soon the first attempt of a delivery begins on an idle server: one refund at a time, each delivered before the next. A
 * caller can't see the commit itself. It happens between the call and its response, so the time from the call to the attempt
 * is an upper bound, and that time is reported.
 */
const WARM_UP = 30;
const ROUNDS = 300;

interface Sample {
  sinceCallMs: number;
  sinceResponseMs: number;
}

/** A merchant's server that reports when each delivery arrives. */
async function startReceiver() {
  const arrivals = new Map<string, (at: number) => void>();
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const body = Buffer.concat(await request.toArray()).toString("utf8");
    response.writeHead(204).end();
    const { data } = JSON.parse(body);
    arrivals.get(data.clientReferenceId)?.(at);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    arrivalOf: (reference: string) => new Promise<number>((resolve) => arrivals.set(reference, resolve)),
    close: () => server.close(),
  };
}

async function measure(settings: Record<string, string>): Promise<Sample[]> {
  const dataDir = await makeTempDir();
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const config = readConfig({ PORT: "0", DATA_DIR: dataDir, ENCRYPTION_KEY, ...settings });
  const server = await startServer(config, { logger: pino({ level: "silent" }) });
  const receiver = await startReceiver();
  const call = (path: string, body: object) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  await call("/v1/webhook/subscribe", {
    url: receiver.url,
    secretKey: randomUUID(),
    subscriptionDetails: { type: "ALL" },
  });
  const samples: Sample[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const reference = randomUUID();
    const arrival = receiver.arrivalOf(reference);
    const calledAt = performance.now();
    const amount = { currency: "USD", value: 0.01 };
    const refund = { paymentId: "pay_settled", amount, clientReferenceId: reference, requestKey: reference };
    await (await call("/v1/refunds", refund)).arrayBuffer();
    const respondedAt = performance.now();
    const arrivedAt = await arrival;
    samples.push({
      sinceCallMs: arrivedAt - calledAt,
      sinceResponseMs: Math.max(0, arrivedAt - respondedAt),
    });
  }
  receiver.close();
  await server.close();
  await rm(dataDir, { recursive: true });
  return samples.slice(WARM_UP);
}

function figures(store: string, samples: readonly Sample[]): Figure[] {
  const values = samples.map((sample) => sample.sinceCallMs);
  const sinceResponse = samples.map((sample) => sample.sinceResponseMs);
  return [
    single(`call to first attempt, idle server, ${store}, p50`, "ms", [percentile(values, 0.5)], 50),
    single(`call to first attempt, idle server, ${store}, p99`, "ms", [percentile(values, 0.99)], 300),
    single(
      `response to first attempt, idle server, ${store}, p50`,
      "ms",
      [percentile(sinceResponse, 0.5)],
      undefined,
    ),
  ];
}

const postgres = await startPostgres({ durable: true });
await record("first-attempt", [
  ...figures("embedded", await measure({})),
  ...figures("PostgreSQL", await measure({ DATABASE_URL: postgres.urlOf("postgres") })),
]);
await postgres.stop();
