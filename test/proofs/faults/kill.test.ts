import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { runServer } from "../../helpers/server.ts";
import { createRandom, ROUNDS, reportProgress } from "./setup/figures.ts";
import { createBusiness, createLastingStore, type LastingStore } from "./setup/lasting-store.ts";
import { startLoad } from "./setup/load.ts";
import { conclude, endSubscriptions, repeatUnknown } from "./setup/losses.ts";

/** The latest moment of a kill, in milliseconds after the start of the load, or of the process. */
const LOAD_MS = 800;
const START_MS = 1_500;
/** The share of rounds before which the server is killed while it starts. */
const START_SHARE = 0.2;

test.each(engines)(
  "nothing acknowledged is lost by kill -9 at any moment under load (%s)",
  async (engine) => {
    const random = createRandom(`kill ${engine}`);
    await using store = await createLastingStore(engine);
    let server = await store.start();
    const { ledger, receiver } = await createBusiness(server);
    await using _ = receiver;
    const lost: string[] = [];
    const counted = { acknowledged: 0, "came through without a response": 0, "killed while starting": 0 };

    for (let round = 1; round <= ROUNDS; round += 1) {
      const load = startLoad([server], ledger);
      await setTimeout(random() * LOAD_MS);
      server.kill("SIGKILL");
      expect(await server.exit).toMatchObject({ signal: "SIGKILL" });
      await load.stop();

      if (random() < START_SHARE)
        counted["killed while starting"] += await killWhileStarting(store, random());
      server = await store.start();
      counted["came through without a response"] += await repeatUnknown(server, ledger);
      lost.push(...(await endSubscriptions(server, ledger)));
      counted.acknowledged = ledger.acknowledged.size;
      reportProgress(`kill -9, ${engine}`, round, ROUNDS, { ...counted, lost: lost.length });
    }

    const figures = { rounds: ROUNDS, ...counted };
    await conclude(`kill -9, ${engine}`, server, { ledger, receiver, lostBefore: lost, figures });
    expect(counted.acknowledged).toBeGreaterThan(ROUNDS);
  },
);

/** Whether the process was still starting at that moment; once it is ready, it listens and keeps running. */
async function killWhileStarting({ env, dataDir }: LastingStore, moment: number): Promise<number> {
  const limitMs = moment * START_MS;
  const { signal } = await runServer({ PORT: "0", DATA_DIR: dataDir, ...env }, { limitMs });
  return signal === "SIGKILL" ? 1 : 0;
}
