import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { spawnServer } from "../../helpers/server.ts";
import { record, recordMissing, reportProgress, roundsOf } from "./setup/figures.ts";
import { createBusiness, createLastingStore } from "./setup/lasting-store.ts";
import { startLoad } from "./setup/load.ts";
import { conclude } from "./setup/losses.ts";
import { findProgram, startHaProxy } from "./setup/programs.ts";

const FAULT = "SIGTERM behind HAProxy";
/** The balancer of the guide probes every second, and takes a server out after the second failure. */
const STOP_DELAY = "4";
const LOAD_MS = 1_500;

test("a server that is stopped behind a balancer costs no call, because it serves until the balancer has noticed", async () => {
  const program = findProgram("haproxy");
  if (!program) {
    recordMissing(FAULT, "haproxy");
    return;
  }
  await using store = await createLastingStore("postgres");
  const start = () => spawnServer({ env: { LOG_LEVEL: "silent", ...store.env, STOP_DELAY } });
  const servers = [await start(), await start()];
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  await using balancer = await startHaProxy(program, "balancer.cfg", ports);
  const balanced = { url: `http://127.0.0.1:${balancer.port}` };
  const { ledger, receiver } = await createBusiness(balanced);
  await using _ = receiver;
  const rounds = roundsOf(0.06);

  for (let round = 1; round <= rounds; round += 1) {
    const [leaving, staying] = servers;
    if (!leaving || !staying) break;
    const load = startLoad([balanced], ledger, { persistent: true });
    await setTimeout(LOAD_MS);

    leaving.kill("SIGTERM");
    expect(await leaving.exit).toMatchObject({ code: 0 });
    await setTimeout(LOAD_MS);
    await load.stop();

    const port = new URL(leaving.url).port;
    const back = await spawnServer({ env: { LOG_LEVEL: "silent", ...store.env, STOP_DELAY, PORT: port } });
    servers.splice(0, 2, staying, back);
    await expect.poll(async () => (await fetch(`${back.url}/readyz`)).status).toBe(200);
    await setTimeout(LOAD_MS); // until the balancer has found it
    reportProgress(FAULT, round, rounds, { ...ledger.outcomes });
  }

  record(FAULT, { rounds, ...ledger.outcomes });
  expect(ledger.outcomes).toMatchObject({ refused: 0, lost: 0 });
  await conclude(FAULT, balanced, { ledger, receiver });
});
