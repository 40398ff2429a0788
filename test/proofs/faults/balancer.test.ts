import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ServerProcess } from "../../helpers/process.ts";
import { roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { findOrSkip, startHaProxy } from "./setup/programs.ts";
import { startTrial, untilReady } from "./setup/trial.ts";

const FAULT = "rolling update behind HAProxy";
const SERVERS = 3;
/** The balancer of the guide probes every second, and takes a server out after the second failure. */
const STOP_DELAY = "4";
const LOAD_MS = 1_500;

test("servers are replaced one by one behind a balancer, and no call fails", async (context) => {
  const program = findOrSkip(context, FAULT, "haproxy");
  const store = await createLastingStore("postgres");
  const servers: ServerProcess[] = [];
  while (servers.length < SERVERS) servers.push(await store.start({ env: { STOP_DELAY } }));
  const ports = servers.map(({ url }) => Number(new URL(url).port));
  const balancer = await startHaProxy(program, "balancer.cfg", ports);
  const counted = { servers: SERVERS, served: 0 };
  const balanced = { url: `http://127.0.0.1:${balancer.port}` };
  const trial = await startTrial(FAULT, async () => balanced, { counted });
  const { outcomes } = trial.ledger;

  const replaceAll = async () => {
    for (const [index, leaving] of servers.entries()) {
      await setTimeout(LOAD_MS); // until the balancer has found the one before
      expect(await leaving.stop()).toMatchObject({ code: 0 });
      const next = await store.start({ env: { STOP_DELAY, PORT: `${ports[index]}` } });
      servers[index] = next;
      await untilReady(next);
    }
    await setTimeout(LOAD_MS);
    counted.served = outcomes.served;
  };
  await trial.repeat(roundsOf(0.02), () => trial.underLoad(replaceAll, { persistent: true }));

  expect(outcomes).toMatchObject({ refused: 0, lost: 0 });
  await trial.conclude();
});
