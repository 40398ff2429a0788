import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pack } from "../../../scripts/packages/pack-client.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BIN = join(ROOT, "node_modules/.bin");

/** The dependencies of the client, and further packages that the projects of these tests use. */
const DEPENDENCIES = ["openapi-fetch", "fast-sha256"];
const OTHERS = ["express", "@types/express", "@types/node"];

type Settings = Readonly<Record<string, string>>;

/** A program that runs until it is stopped. */
export type RunningProgram = {
  /** The next line that it prints. */
  nextLine(): Promise<string>;
  stop(): Promise<void>;
};

/** A merchant's project in which the published client is installed. */
export type PackedProject = {
  /** The package as npm publishes it. */
  readonly tarball: Buffer;
  /** Where the package is installed. */
  readonly packageFolder: string;
  write(name: string, content: string): Promise<void>;
  /** Runs a program to its end, and resolves with its output. Rejects with the output when it fails. */
  run(command: "node" | "tsc", ...args: string[]): Promise<string>;
  /** Checks files of the project as strictly as TypeScript can, and returns the errors. */
  compile(files: readonly string[], options: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts a program of the project. */
  start(file: string, settings: Settings): RunningProgram;
  remove(): Promise<void>;
};

/** Packs the client, which builds it, and unpacks it where `npm install` would. Nothing is downloaded. */
export async function createPackedProject(): Promise<PackedProject> {
  const folder = await makeTempDir();
  const packageFolder = join(folder, "node_modules/@refund-contract/client");
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const tarball = await pack(folder);
    await mkdir(packageFolder, { recursive: true });
    await runIn(folder, "tar", ["-xzf", tarball, "--strip-components", "1", "-C", packageFolder]);
    for (const dependency of [...DEPENDENCIES, ...OTHERS]) await link(dependency, folder);
    await writeFile(
      join(folder, "package.json"),
      '{ "name": "merchant", "private": true, "type": "module" }',
    );
    return {
      tarball: await readFile(tarball),
      packageFolder,
      write: (file, content) => writeFile(join(folder, file), content),
      run: (command, ...args) => runIn(folder, command, args),
      compile: (files, options) => compileIn(folder, files, options),
      start: (file, settings) => startIn(folder, file, settings),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function compileIn(
  folder: string,
  files: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const strict = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: "es2022" };
  const config = { compilerOptions: { ...strict, ...options }, files };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  return runIn(folder, "tsc", ["--project", "tsconfig.json"]);
}

async function link(dependency: string, folder: string): Promise<void> {
  const path = join(folder, "node_modules", dependency);
  await mkdir(dirname(path), { recursive: true });
  await symlink(join(ROOT, "node_modules", dependency), path);
}

/** The environment of a merchant's shell, without the variables that npm or the test run add to ours. */
const ENVIRONMENT: Settings = {
  PATH: [BIN, process.env.PATH].join(delimiter),
  HOME: process.env.HOME ?? "",
};

async function runIn(cwd: string, command: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env: ENVIRONMENT });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

function startIn(cwd: string, file: string, settings: Settings): RunningProgram {
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { ...ENVIRONMENT, ...settings },
    stdio: [...stdio],
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async nextLine() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${file} ended`);
      return value;
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}
