/** Installs this project's packages in a folder, as a merchant would have them. */
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { type Analysis, checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { packPackages } from "../../scripts/packages/pack.ts";
import { PACKAGES, type PackageName } from "../../scripts/packages/package-list.ts";
import { ROOT } from "../../scripts/shared/root.ts";
import { outputOf, type Program, type Settings, startProgram } from "./process.ts";
import { makeTempDir } from "./temp-dir.ts";

export type BuiltName = keyof typeof PACKAGES;
export const BUILT_NAMES = Object.keys(PACKAGES) as BuiltName[];

/** The client's own dependencies, and what examples and tests of it use. */
const OF_CLIENT = ["openapi-fetch", "fast-sha256", "express", "@types/express", "@types/node"];

/** A merchant's project in which packages are installed as they are published. */
export type PackedProject = AsyncDisposable & {
  readonly folder: string;
  /** Where a package is installed. */
  packageFolder(name: PackageName): string;
  tarball(name: PackageName): Promise<Buffer>;
  /** The command of a package, which `npx` would run. */
  command(name: PackageName): Promise<string[]>;
  write(file: string, content: string): Promise<void>;
  /** Runs a program to its end, and resolves with its output. Rejects with the output when it fails. */
  run(command: "node", ...args: string[]): Promise<string>;
  /** Checks files of the project as strictly as TypeScript can, and returns the errors. */
  compile(files: readonly string[], options: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts a program of the project. */
  start(file: string, env: Settings): Program;
};

/**
 * Packs packages, and unpacks each where `npm install` would. Nothing is downloaded: the client finds only its own
 * dependencies, the others find all those of this project.
 */
export async function createPackedProject(names: readonly PackageName[]): Promise<PackedProject> {
  const folder = names.includes("client")
    ? await makeTempDir()
    : join(ROOT, ".cache", `unpacked-${process.pid}`);
  const remove = () => rm(folder, { recursive: true, force: true });
  const packageFolder = (name: PackageName) => join(folder, "node_modules/@refund-contract", name);
  const env = { PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter), NODE_OPTIONS: "" };
  const run = (...command: string[]) => outputOf(command, { cwd: folder, env });
  const write = (file: string, content: string) => writeFile(join(folder, file), content);
  try {
    const tarballs = await packPackages(names, join(folder, "tarballs"));
    for (const { name, file } of tarballs) {
      await mkdir(packageFolder(name), { recursive: true });
      await run("tar", "-xzf", file, "--strip-components", "1", "-C", packageFolder(name));
    }
    if (names.includes("client")) for (const dependency of OF_CLIENT) await link(dependency, folder);
    await write("package.json", '{ "name": "merchant", "private": true, "type": "module" }');
    return {
      folder,
      packageFolder,
      tarball: (wanted) => readFile(tarballs.find(({ name }) => name === wanted)?.file ?? ""),
      async command(name) {
        const { bin } = JSON.parse(await readFile(join(packageFolder(name), "package.json"), "utf8"));
        const [program] = Object.values(bin);
        return [process.execPath, join(packageFolder(name), String(program))];
      },
      write,
      run,
      async compile(files, options) {
        const strict = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: "es2022" };
        await write("tsconfig.json", JSON.stringify({ compilerOptions: { ...strict, ...options }, files }));
        return run("node", join(ROOT, "node_modules/typescript/bin/tsc"), "--project", "tsconfig.json");
      },
      start: (file, settings) =>
        startProgram([process.execPath, file], { cwd: folder, env: { ...env, ...settings } }),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function link(dependency: string, folder: string): Promise<void> {
  const path = join(folder, "node_modules", dependency);
  await mkdir(dirname(path), { recursive: true });
  await symlink(join(ROOT, "node_modules", dependency), path);
}

/** What publint and attw find wrong with a package, and its entry points; a program has no types. */
export async function inspect(data: Buffer) {
  const tarball = new Uint8Array(data).buffer;
  const { messages } = await publint({ pack: { tarball }, strict: true });
  const analysis = await checkPackage(createPackageFromTarballData(data));
  if (!analysis.types) return { messages, problems: [], entrypoints: undefined };
  const entrypoints = Object.keys(analysis.entrypoints);
  return { messages, problems: analysis.problems.filter(isOfExports), entrypoints };
}

/** Whether a problem concerns resolution by `exports`, which Node before 12 doesn't know. */
function isOfExports(problem: Analysis["problems"][number]): boolean {
  return !("resolutionKind" in problem && problem.resolutionKind === "node10");
}
