import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

/*
 * Does to real processes what machines do to them: kills them at random moments, takes their database, network, disk and
 * clock away, and compares all that callers were told with all that is there afterwards. `--rounds` says how long, `--seed`
 * from where chance begins; names (`kill`, `stop`, …) run only these.
 */
const FIGURES = ".cache/faults.txt";

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});

if (!/^[1-9]\d{0,4}$/.test(values.rounds) || !/^\d{1,9}$/.test(values.seed)) {
  console.error("Usage: npm run faults -- [--rounds N] [--seed N] [name…]");
  process.exitCode = 1;
} else {
  await main(values, positionals);
}

async function main({ rounds, seed }: typeof values, names: readonly string[]): Promise<void> {
  await mkdir(".cache", { recursive: true });
  await writeFile(FIGURES, "");
  const filters = names.map((name) => `test/faults/${name}`);
  const child = spawn("vitest", ["run", "--config", "test/faults/vitest.config.ts", ...filters], {
    env: { ...process.env, FAULT_ROUNDS: rounds, FAULT_SEED: seed, FAULT_FIGURES: FIGURES },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  process.stdout.write(`Faults with --rounds ${rounds} --seed ${seed}:\n${await readFile(FIGURES, "utf8")}`);
  await rm(FIGURES);
  if (code !== 0) process.exitCode = 1;
}
