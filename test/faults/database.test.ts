import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../webhooks/given.ts";
import { createRandom, record, roundsOf, tell } from "./figures.ts";
import { givenBusiness, givenCrashable } from "./given.ts";
import { callUntil } from "./load.ts";
import { endSubscriptions, reckon, repeatUnknown } from "./reckon.ts";

const LOAD_MS = 800;
const OUTAGE_MS = 1_500;

test("PostgreSQL killed and restarted under load: the server goes on, and nothing acknowledged is lost", async () => {
  const rounds = roundsOf(0.2);
  const random = createRandom("database");
  const { store, postgres } = await givenCrashable();
  await using _ = store;
  const server = await store.start();
  const { ledger, receiver } = await givenBusiness(server);
  await using __ = receiver;
  const lost: string[] = [];
  let cameThrough = 0;

  for (let round = 1; round <= rounds; round += 1) {
    let stopped = false;
    const load = callUntil(server.url, ledger, { stopped: () => stopped, persistent: true });
    await setTimeout(random() * LOAD_MS);
    await postgres.crash(round % 2 === 1 ? "SIGKILL" : "SIGQUIT");
    await setTimeout(random() * OUTAGE_MS);
    expect(await statusOf(server.url, "/readyz")).toBe(503);
    expect(await statusOf(server.url, "/healthz")).toBe(200);
    await postgres.restart();
    await until(async () => ((await statusOf(server.url, "/readyz")) === 200 ? true : undefined));
    await setTimeout(random() * LOAD_MS);
    stopped = true;
    await load;

    cameThrough += await repeatUnknown(server, ledger);
    lost.push(...(await endSubscriptions(server, ledger)));
    const acknowledged = ledger.acknowledged.size;
    tell("PostgreSQL killed", round, rounds, { acknowledged, lost: lost.length });
  }

  const losses = await reckon(server, ledger, receiver);
  lost.push(...losses.lost);
  const { doubled } = losses;
  record("PostgreSQL killed", {
    rounds,
    acknowledged: ledger.acknowledged.size,
    "came through unanswered": cameThrough,
    lost: lost.length,
    doubled: doubled.length,
  });
  expect({ lost, doubled, wrong: ledger.wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
});

async function statusOf(url: string, path: string): Promise<number> {
  const response = await fetch(url + path, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status;
}
