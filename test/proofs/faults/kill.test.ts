import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { runServer } from "../../helpers/server.ts";
import { createRandom, ROUNDS } from "./setup/figures.ts";
import { createLastingStore, type LastingStore } from "./setup/lasting-store.ts";
import { startTrial } from "./setup/trial.ts";

/** The latest moment of a kill, in milliseconds after the start of the load, or of the process. */
const LOAD_MS = 800;
const START_MS = 1_500;
/** The share of rounds before which the server is killed while it starts. */
const START_SHARE = 0.2;

test.each(engines)(
  "nothing acknowledged is lost by kill -9 at any moment under load (%s)",
  async (engine) => {
    const random = createRandom(`kill ${engine}`);
    const store = await createLastingStore(engine);
    const counted = { "killed while starting": 0 };
    const trial = await startTrial(`kill -9, ${engine}`, store.start, { counted });

    await trial.repeat(ROUNDS, async () => {
      await trial.underLoad(async () => {
        await setTimeout(random() * LOAD_MS);
        expect(await trial.server.stop("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
      });
      if (random() < START_SHARE)
        counted["killed while starting"] += await killWhileStarting(store, random());
      await trial.replaceServer();
      await trial.recover();
    });

    await trial.conclude();
    expect(trial.ledger.acknowledged.size).toBeGreaterThan(ROUNDS);
  },
);

/** Whether the process was still starting at that moment; once it is ready, it listens and keeps running. */
async function killWhileStarting({ env, dataDir }: LastingStore, moment: number): Promise<number> {
  const limitMs = moment * START_MS;
  const { signal } = await runServer({ PORT: "0", DATA_DIR: dataDir, ...env }, { limitMs });
  return signal === "SIGKILL" ? 1 : 0;
}
