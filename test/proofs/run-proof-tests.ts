/** Runs the tests of a proof with Vitest, and prints what they measured. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";

const SUFFIX = ".test.ts";

/** The names of the tests of a proof, without the suffix of their files. */
export async function listTests(proof: string): Promise<string[]> {
  const files = await readdir(`test/proofs/${proof}`);
  return files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
}

/** How many tests run at once. Those of Citus also measure. */
const WORKERS = { faults: 2, citus: 1 } as const;

/**
 * Runs tests of a proof, by name; all without names. Prints the figures that they have recorded, and sets the exit code of this
 * process when one fails.
 */
export async function runProofTests(
  proof: keyof typeof WORKERS,
  names: readonly string[],
  options: { readonly seed: number; readonly rounds?: number },
): Promise<void> {
  const figures = `.cache/${proof}.txt`;
  await mkdir(".cache", { recursive: true });
  await writeFile(figures, "");
  const files = names.map((name) => `test/proofs/${proof}/${name}${SUFFIX}`);
  const config = ["--config", "test/proofs/vitest.config.ts", "--project", proof];
  const child = spawn("vitest", ["run", ...config, "--maxWorkers", `${WORKERS[proof]}`, ...files], {
    env: {
      ...process.env,
      FAULT_FIGURES: figures,
      FAULT_SEED: `${options.seed}`,
      ...(options.rounds && { FAULT_ROUNDS: `${options.rounds}` }),
    },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
  const chosen = Object.entries(options).map(([name, value]) => `--${name} ${value}`);
  process.stdout.write(`${proof} with ${chosen.join(" ")}:\n${await readFile(figures, "utf8")}`);
  await rm(figures);
}
