import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";

const SUFFIX = ".test.ts";

/** The names of the tests of a proof, without the suffix of their files. */
export async function listTests(proof: string): Promise<string[]> {
  const files = await readdir(`test/proofs/${proof}`);
  return files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
}

/** Has work record figures in a file, and prints them under a title when it has ended. */
export async function withFigures(title: string, file: string, work: () => Promise<void>): Promise<void> {
  await mkdir(".cache", { recursive: true });
  await writeFile(file, "");
  await work();
  process.stdout.write(`${title}:\n${await readFile(file, "utf8")}`);
  await rm(file);
}

/** How many tests run at once. Those of engines also measure. */
const WORKERS = { faults: 2, engines: 1 } as const;

/** Runs tests of a proof, by name; all without names. Sets the exit code of this process when one fails. */
export async function runProofTests(
  proof: keyof typeof WORKERS,
  names: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const files = names.map((name) => `test/proofs/${proof}/${name}${SUFFIX}`);
  const options = ["--config", "test/proofs/vitest.config.ts", "--project", proof];
  const workers = ["--maxWorkers", `${WORKERS[proof]}`];
  const child = spawn("vitest", ["run", ...options, ...workers, ...files], {
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  const [code] = await once(child, "close");
  if (code !== 0) process.exitCode = 1;
}
