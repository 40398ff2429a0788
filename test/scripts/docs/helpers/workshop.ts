import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeTempDir } from "../../../helpers/temp-dir.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const BIN = join(ROOT, "node_modules/.bin");

/** Far longer than any block takes. */
const LIMIT_MS = 60_000;

/** A folder in which code of the docs runs, like that of a reader who follows them. */
export type Workshop = AsyncDisposable & {
  readonly folder: string;
  /** Runs a program to its end, and resolves with its output. Rejects with the output when it fails. */
  run(command: string, ...args: string[]): Promise<string>;
  /** Starts a program that keeps running, and resolves when its output matches `ready`. */
  start(name: string, ready: RegExp, command: string, ...args: string[]): Promise<void>;
  /** Resolves when a started program has printed a text. */
  untilPrinted(name: string, text: string): Promise<void>;
};

/** A folder with the packages that the docs use, and with the commands of this project. */
export async function createWorkshop(sandboxUrl: string): Promise<Workshop> {
  const folder = await makeTempDir();
  await furnish(folder);
  const started = new Map<string, Running>();
  const env = {
    PATH: `${dirname(process.execPath)}${delimiter}${BIN}${delimiter}${process.env.PATH}`,
    HOME: folder,
    SANDBOX_URL: sandboxUrl,
  };
  const launch = (command: string, args: string[]) =>
    createRunning(spawn(command, args, { cwd: folder, env, detached: true }));

  return {
    folder,
    async run(command, ...args) {
      const running = launch(command, args);
      const timer = setTimeout(() => running.stop(), LIMIT_MS);
      const code = await running.exit.finally(() => clearTimeout(timer));
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${running.output()}`);
      return running.printed();
    },
    async start(name, ready, command, ...args) {
      const running = launch(command, args);
      started.set(name, running);
      await running.untilPrinted(ready);
    },
    async untilPrinted(name, text) {
      const running = started.get(name);
      if (!running) throw new Error(`${name} was not started.`);
      await running.untilPrinted(text);
    },
    async [Symbol.asyncDispose]() {
      for (const running of started.values()) running.stop();
      await Promise.all([...started.values()].map(({ exit }) => exit));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Our packages are linked to their sources, so that nothing has to be built. */
const SOURCES = { client: "client/src/index.ts", sandbox: "server/sandbox/index.ts" };

async function furnish(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  for (const [name, source] of Object.entries(SOURCES)) {
    const own = join(modules, "@refund-contract", name);
    await mkdir(own, { recursive: true });
    await writeFile(join(own, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    await writeFile(join(own, "index.js"), `export * from ${JSON.stringify(join(ROOT, source))};\n`);
  }
  await symlink(BIN, join(modules, ".bin"));
  for (const name of ["standardwebhooks", "express", "vitest"])
    await symlink(join(ROOT, "node_modules", name), join(modules, name));
  const scripts = { listen: `node ${join(ROOT, "server/sandbox/cli.ts")} listen` };
  // As `npm init -y` makes it.
  const project = { name: "workshop", version: "1.0.0", main: "index.js", type: "commonjs", scripts };
  await writeFile(join(folder, "package.json"), JSON.stringify(project));
}

type Running = ReturnType<typeof createRunning>;

/** A process and all that it started, which are stopped together. */
function createRunning(child: ChildProcess) {
  let printed = "";
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    output += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const stop = () => {
    if (child.pid === undefined || child.exitCode !== null) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The process has just ended by itself.
    }
  };
  const untilPrinted = async (wanted: RegExp | string) => {
    const found = () => (typeof wanted === "string" ? output.includes(wanted) : wanted.test(output));
    const ended = exit.then((code) => Promise.reject(new Error(`It ended with ${code}:\n${output}`)));
    ended.catch(() => {}); // ignored unless somebody waits for it
    while (!found()) await Promise.race([ended, child.stdout && once(child.stdout, "data")]);
  };
  return { exit, stop, untilPrinted, printed: () => printed, output: () => output };
}
