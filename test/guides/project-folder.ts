/** A folder like that of a reader of the guides, in which tests run what a guide says. */
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { ROOT } from "../../scripts/shared/root.ts";
import { outputOf, type Program, startProgram } from "../helpers/process.ts";
import { makeTempDir } from "../helpers/temp-dir.ts";

const BIN = join(ROOT, "node_modules/.bin");

/** A folder in which code of the docs runs, like that of a reader who follows them. */
export type ProjectFolder = AsyncDisposable & {
  readonly folder: string;
  /** Runs a program to its end, and resolves with its output. Rejects with the output when it fails. */
  run(...command: readonly string[]): Promise<string>;
  /** Starts a program that keeps running until the folder is disposed of. */
  start(name: string, ...command: readonly string[]): Program;
  /** A program that was started. */
  started(name: string): Program;
};

/** A folder with the packages that the docs use, and with the commands of this project. */
export async function createProjectFolder(sandboxUrl: string): Promise<ProjectFolder> {
  const folder = await makeTempDir();
  await install(folder);
  const programs = new Map<string, Program>();
  const env = {
    PATH: [dirname(process.execPath), BIN, process.env.PATH].join(delimiter),
    HOME: folder,
    SANDBOX_URL: sandboxUrl,
    REFUNDS_SANDBOX_URL: sandboxUrl,
  };

  return {
    folder,
    run: (...command) => outputOf(command, { cwd: folder, env }),
    start(name, ...command) {
      const program = startProgram(command, { cwd: folder, env });
      programs.set(name, program);
      return program;
    },
    started(name) {
      const program = programs.get(name);
      if (!program) throw new Error(`${name} was not started.`);
      return program;
    },
    async [Symbol.asyncDispose]() {
      for (const program of programs.values()) await program[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Our packages are linked to their sources, so that nothing has to be built. */
const SOURCES = { client: "client/src/index.ts", sandbox: "server/sandbox/index.ts" };

async function install(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  for (const [name, source] of Object.entries(SOURCES)) {
    const own = join(modules, "@refund-contract", name);
    await mkdir(own, { recursive: true });
    await writeFile(join(own, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    await writeFile(join(own, "index.js"), `export * from ${JSON.stringify(join(ROOT, source))};\n`);
  }
  // `npx` runs what is here.
  await mkdir(join(modules, ".bin"));
  for (const name of await readdir(BIN)) await symlink(join(BIN, name), join(modules, ".bin", name));
  await installCommand(modules, "certify", "test/certify/cli.ts");
  await installCommand(modules, "sandbox", "server/sandbox/cli.ts", { exports: "./index.js" });
  for (const name of ["standardwebhooks", "express", "vitest"])
    await symlink(join(ROOT, "node_modules", name), join(modules, name));
  const scripts = { listen: `node ${join(ROOT, "server/sandbox/cli.ts")} listen` };
  // As `npm init -y` makes it.
  const project = { name: "merchant", version: "1.0.0", main: "index.js", type: "commonjs", scripts };
  await writeFile(join(folder, "package.json"), JSON.stringify(project));
}

async function installCommand(
  modules: string,
  name: string,
  source: string,
  more: object = {},
): Promise<void> {
  const own = join(modules, "@refund-contract", name);
  const command = `refund-contract-${name}`;
  await mkdir(own, { recursive: true });
  const bin = { [command]: "cli.mjs" };
  const manifest = { name: `@refund-contract/${name}`, version: "1.0.0", type: "module", bin, ...more };
  await writeFile(join(own, "package.json"), JSON.stringify(manifest));
  const program = `#!/usr/bin/env node\nawait import(${JSON.stringify(join(ROOT, source))});\n`;
  await writeFile(join(own, "cli.mjs"), program, { mode: 0o755 });
  await symlink(join(own, "cli.mjs"), join(modules, ".bin", command));
}
