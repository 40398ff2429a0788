import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber, wholeNumber } from "../../../scripts/command/command.ts";

const FIGURES = ".cache/faults.txt";
const SUFFIX = ".test.ts";

const known = (await readdir("test/proofs/faults"))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));

const command = defineProof(
  "faults",
  "Kills real processes at random moments, breaks their database, network, disk and clock, and compares the responses that callers got with what is stored afterwards.",
)
  .option(
    "--rounds <n>",
    "how often a process is killed; other faults in proportion",
    wholeNumber(1, 99_999),
    50,
  )
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(
    new Argument("[name...]", "which files of test/proofs/faults to run; all when left out").choices(known),
  )
  .parse();
await main(command.opts(), command.args);

async function main(
  { rounds, seed }: { rounds: number; seed: number },
  names: readonly string[],
): Promise<void> {
  await mkdir(".cache", { recursive: true });
  await writeFile(FIGURES, "");
  const filters = names.map((name) => `test/proofs/faults/${name}${SUFFIX}`);
  const child = spawn("vitest", ["run", "--config", "test/proofs/faults/vitest.config.ts", ...filters], {
    env: { ...process.env, FAULT_ROUNDS: String(rounds), FAULT_SEED: String(seed), FAULT_FIGURES: FIGURES },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  process.stdout.write(`Faults with --rounds ${rounds} --seed ${seed}:\n${await readFile(FIGURES, "utf8")}`);
  await rm(FIGURES);
  if (code !== 0) process.exitCode = 1;
}
