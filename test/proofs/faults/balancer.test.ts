import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { SERVER_OPTIONS, type ServerProcessOptions, startServerProcess } from "../../helpers/process.ts";
import { record, recordMissing, reportProgress, roundsOf } from "./setup/figures.ts";
import { createBusiness, createLastingStore } from "./setup/lasting-store.ts";
import { startLoad } from "./setup/load.ts";
import { conclude } from "./setup/losses.ts";
import { findProgram, startHaProxy } from "./setup/programs.ts";
import { checkOutReleaseBefore } from "./setup/release-before.ts";

const FAULT = "rolling update behind HAProxy";
const SERVERS = 3;
/** The balancer of the guide probes every second, and takes a server out after the second failure. */
const STOP_DELAY = "4";
const LOAD_MS = 1_500;

test("servers of the release before are replaced one by one behind a balancer, and no call fails", async () => {
  const program = findProgram("haproxy");
  if (!program) {
    recordMissing(FAULT, "haproxy");
    return;
  }
  await using before = await checkOutReleaseBefore();
  await using store = await createLastingStore("postgres");
  const env = { LOG_LEVEL: "silent", ...store.env, STOP_DELAY };
  const start = async (options: ServerProcessOptions) => {
    const server = await startServerProcess(options);
    onTestFinished(server[Symbol.asyncDispose]);
    return server;
  };
  const command = [process.execPath, ...SERVER_OPTIONS, "server/main.ts"];
  const servers = [];
  for (let index = 0; index < SERVERS; index += 1)
    servers.push(await start({ command, cwd: before.folder, env }));
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  await using balancer = await startHaProxy(program, "balancer.cfg", ports);
  const balanced = { url: `http://127.0.0.1:${balancer.port}` };
  const { ledger, receiver } = await createBusiness(balanced);
  await using _ = receiver;
  const rounds = roundsOf(0.02);

  const load = startLoad([balanced], ledger, { persistent: true });
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, leaving] of servers.entries()) {
      await setTimeout(LOAD_MS); // until the balancer has found the one before
      leaving.kill("SIGTERM");
      expect(await leaving.exit).toMatchObject({ code: 0 });
      const next = await start({ env: { ...env, PORT: `${ports[index]}` } });
      servers.splice(index, 1, next);
      await expect
        .poll(async () => (await fetch(`${next.url}/readyz`)).status, { timeout: 60_000 })
        .toBe(200);
    }
    reportProgress(FAULT, round, rounds, { ...ledger.outcomes });
  }
  await setTimeout(LOAD_MS);
  await load.stop();

  record(FAULT, { servers: SERVERS, rounds, ...ledger.outcomes });
  expect(ledger.outcomes).toMatchObject({ refused: 0, lost: 0 });
  await conclude(FAULT, balanced, { ledger, receiver });
});
