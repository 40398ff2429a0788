import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { misused, readCommandLine } from "./lib/command-line.ts";

/*
 * Does to real processes what machines do to them: kills them at random moments, takes their database, network, disk and
 * clock away, and compares all that callers were told with all that is there afterwards.
 */
const USAGE = `npm run faults -- [--rounds 50] [--seed 1] [name…]

  --rounds  how often a process is killed; the other faults come in proportion
  --seed    from where chance begins
  name      kill, stop, database, … run only these files of test/faults; all when left out
`;

const FIGURES = ".cache/faults.txt";

const { values, positionals } = readCommandLine(USAGE, {
  options: { rounds: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});

if (!/^[1-9]\d{0,4}$/.test(values.rounds)) misused("--rounds must be a whole number from 1 to 99999", USAGE);
if (!/^\d{1,9}$/.test(values.seed)) misused("--seed must be a whole number of at most nine digits", USAGE);
await main(values, positionals);

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
