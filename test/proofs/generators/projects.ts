import { spawn } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/redocly.ts";
import type { Tool } from "./tools.ts";

/** The folder with the package files and programs of the generators. */
const SOURCE = join(ROOT, "test/proofs/generators/clients/typescript");

/** The folder in which they are installed and run, apart from the project's own dependencies. */
const FOLDER = join(ROOT, ".cache/generators/typescript");

/** One tool's folder, like that of a merchant who starts with nothing but the contract. */
export type Project = { readonly tool: Tool; readonly folder: string };

/** Installs the generators when the installed versions differ from their lockfile. */
export async function installGenerators(): Promise<"installed" | "present"> {
  return installPackages(SOURCE, FOLDER);
}

/** Installs the packages that `source` describes into `target`, unless they are installed as in its lockfile. */
export async function installPackages(source: string, target: string): Promise<"installed" | "present"> {
  const marker = join(target, "installed-lock.json");
  const wanted = await readFile(join(source, "package-lock.json"), "utf8");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return "present";
  await mkdir(target, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
    await copyFile(join(source, name), join(target, name));
  }
  await rm(marker, { force: true });
  await runShell("npm ci", target);
  await writeFile(marker, wanted);
  return "installed";
}

/** Creates a tool's folder afresh, with the contract as the sandbox at `url` serves it. */
export async function openProject(tool: Tool, url: string): Promise<Project> {
  const folder = join(FOLDER, tool.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await fetchContract(url, folder, ["openapi.yaml", "openapi.json"]);
  await copyFile(join(SOURCE, `${tool.name}.ts`), join(folder, "example.ts"));
  await copyFile(join(SOURCE, "program.ts"), join(folder, "program.ts"));
  if (tool.configuration) await copyFile(join(SOURCE, tool.configuration), join(folder, tool.configuration));
  return { tool, folder };
}

/** Writes the contract into a folder, as the sandbox at `url` serves it. */
export async function fetchContract(url: string, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const response = await fetch(`${url}/${name}`);
    if (!response.ok) throw new Error(`${url}/${name} got ${response.status}`);
    await writeFile(join(folder, name), await response.text());
  }
}

/** The installed version of a package: with the other generators or, if the project uses it too, with the project. */
export async function versionOf(packageName: string): Promise<string> {
  for (const folder of [SOURCE, ROOT]) {
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    const version = dependencies?.[packageName] ?? devDependencies?.[packageName];
    if (typeof version === "string") return version;
  }
  throw new Error(`${packageName} is not installed`);
}

/** Runs a command line as typed in a shell, and returns its output. Rejects with the output when it fails. */
export async function runShell(
  command: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  // The variables that npm sets for its scripts, above all the folder, would mislead an inner npm.
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  const child = spawn(command, {
    cwd: folder,
    shell: true,
    env: { ...Object.fromEntries(kept), REDOCLY_TELEMETRY: "off", DO_NOT_TRACK: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, printed] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    printed += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${printed}`);
  return output;
}

/** All files that a tool has written, as one text. */
export async function readGenerated({ folder }: Project): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => /^payments\b.*\.ts$/.test(name));
  if (files.length === 0) throw new Error("it has written no payments");
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts.join("\n");
}
