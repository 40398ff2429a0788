import { rm } from "node:fs/promises";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { progress, record, single } from "./lib/compare.ts";
import { runServer } from "./lib/processes.ts";

/*
 * The time from the start of the process to the line that says it is ready, with a new data folder and with an existing one.
 */
const ROUNDS = 5;
const first: number[] = [];
const again: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  progress.show(`start: round ${round + 1} of ${ROUNDS}`);
  const dataDir = await makeTempDir();
  for (const times of [first, again]) {
    const server = await runServer({ dataDir });
    times.push(server.startedInMs / 1000);
    await server.stop();
  }
  await rm(dataDir, { recursive: true });
}
progress.clear();
await record("start", [
  single("start to ready, the first time", "s", first, 2.5),
  single("start to ready, again", "s", again, 1.2),
]);
