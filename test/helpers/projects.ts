import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../scripts/command/root.ts";
import { outputOf, type Settings } from "./process.ts";

/** Compiling libraries takes minutes. */
const LIMIT_MS = 1_800_000;

/** The environment of a reader's shell. What npm sets for its scripts, above all the folder, would mislead an inner npm. */
export const READER_ENV: Settings = {
  ...(Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")),
  ) as Settings),
  ...{ NODE_OPTIONS: "", NODE_COMPILE_CACHE: "", REDOCLY_TELEMETRY: "off", DO_NOT_TRACK: "1" },
};

/** Runs a program as a reader does, and resolves with its output. Rejects with the output when it fails. */
export async function runAsReader(
  command: readonly string[],
  folder: string,
  env: Settings = {},
): Promise<string> {
  return outputOf(command, { cwd: folder, env: { ...READER_ENV, ...env }, limitMs: LIMIT_MS });
}

/** Runs a command line as typed in a shell. */
export function runShell(command: string, folder: string, env: Settings = {}): Promise<string> {
  return runAsReader(["sh", "-c", command], folder, env);
}

/** Installs the packages that `source` describes into `target`, unless they are installed as in its lockfile. */
export async function installPackages(source: string, target: string): Promise<"installed" | "present"> {
  const wanted = await readFile(join(source, "package-lock.json"), "utf8");
  return installOnce(target, wanted, async () => {
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      await copyFile(join(source, name), join(target, name));
    await runShell("npm ci", target);
  });
}

/** Installs packages of exact versions into a folder of `.cache`, unless they are there. Resolves with their folder. */
export async function installTools(
  name: string,
  packages: readonly string[],
  overrides: Settings = {},
): Promise<string> {
  const folder = join(ROOT, ".cache", name);
  await installOnce(folder, packages.join(), async () => {
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, overrides }));
    // An exact version never changes, so npm may use what it has already downloaded.
    const options = ["--prefer-offline", "--no-audit", "--no-fund", "--save-exact"];
    await runAsReader(["npm", "install", ...options, ...packages], folder);
  });
  return join(folder, "node_modules");
}

async function installOnce(folder: string, wanted: string, install: () => Promise<void>) {
  const marker = join(folder, "installed");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return "present";
  await mkdir(folder, { recursive: true });
  await rm(marker, { force: true });
  await install();
  await writeFile(marker, wanted);
  return "installed";
}

/** Writes the contract into a folder, as the sandbox at `url` serves it. */
export async function fetchContract(url: string, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const response = await fetch(`${url}/${name}`);
    if (!response.ok) throw new Error(`${url}/${name} got ${response.status}`);
    await writeFile(join(folder, name), await response.text());
  }
}
