import { execFile as runFile } from "node:child_process";
import { promisify } from "node:util";
import { progress, record, single } from "./lib/compare.ts";

/* The commands that a change of the contract waits for. */
const execFile = promisify(runFile);
const ROUNDS = 5;

async function secondsOf(script: string): Promise<number[]> {
  const seconds: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    progress.show(`${script}: ${round < 0 ? "warm-up" : `round ${round + 1} of ${ROUNDS}`}`);
    const startedAt = performance.now();
    await execFile(process.execPath, [script]);
    if (round >= 0) seconds.push((performance.now() - startedAt) / 1000);
  }
  progress.clear();
  return seconds;
}

await record("toolchain", [
  single("npm run generate", "s", await secondsOf("scripts/generate/generate.ts"), 3),
  single("npm run docs", "s", await secondsOf("scripts/docs/docs.ts"), 3),
]);
