import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../scripts/shared/root.ts";
import { makeTempDir } from "./temp-dir.ts";

/**
 * The environment of a program that a test starts. From the test run's own environment it takes only the search path, because
 * exported settings would otherwise apply to the program. It also contains settings that make Node start faster.
 */
export const PROCESS_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  NODE_OPTIONS: `--import ${new URL("./wasm-flags.ts", import.meta.url)}`,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../.cache/node", import.meta.url)),
};

/** The sandbox of the sources; `npm start` runs a bundle of them. */
export const SANDBOX = [process.execPath, "server/sandbox/cli.ts"];

/** The command of the server that these settings are for: a sandbox, or production with `MODE`. */
export const commandOf = ({ MODE }: Settings) =>
  MODE === "production" ? [process.execPath, "server/cli.ts"] : SANDBOX;

/** The last line that a server prints before it takes calls: a sandbox's example call, or production's log line. */
const SERVER_READY = /curl .*\n|"msg":"listening".*\n/;

/** Far more than a program needs to end by itself, also on a busy machine. */
const RUN_LIMIT_MS = 400_000;

/** Settings by the names of environment variables. */
export type Settings = Readonly<Record<string, string>>;

/** The exit code of a program, and its output. */
export type Exit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A program that was started. Disposing of it kills it with all that it has started, as the end of this process does. */
export type Program = AsyncDisposable & {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly pid: number;
  /** Milliseconds since the start of this process when it was started. */
  readonly startedAtMs: number;
  /** Resolves when it has ended and its output is complete. */
  readonly exit: Promise<Exit>;
  /** Resolves with the first match in its standard output. Rejects with all output when it ends before that. */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Goes on reading its output, without keeping it: a long log would fill the memory. */
  ignoreOutput(): void;
  kill(signal: NodeJS.Signals): void;
  /** Signals it, and resolves at its end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
};

export type ProgramOptions = {
  /** In addition to {@link PROCESS_ENV}. */
  readonly env?: Settings;
  readonly cwd?: string;
  /** Its standard input, by default empty; `open` leaves it to the test. */
  readonly stdin?: string | { readonly open: true };
};

/** Ids of the programs that run. */
const running = new Set<number>();
process.once("exit", () => {
  for (const pid of running) killTree(pid);
});

export function startProgram(
  [file = "", ...args]: readonly string[],
  { env, cwd = ROOT, stdin = "" }: ProgramOptions = {},
): Program {
  const startedAtMs = performance.now();
  const child = spawn(file, args, { cwd, env: { ...PROCESS_ENV, ...env }, stdio: "pipe" });
  const { pid = 0 } = child;
  if (pid > 0) running.add(pid);
  child.stdin.on("error", () => {}); // it may end without reading its input
  if (typeof stdin === "string") child.stdin.end(stdin);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const exit = once(child, "close").then(([code, signal]): Exit => {
    running.delete(pid);
    return { code, signal, ...output };
  });
  exit.catch(() => {}); // ignored unless somebody waits for it
  return {
    child,
    pid,
    startedAtMs,
    exit,
    async untilPrinted(pattern) {
      const ended = exit.then((end) => {
        throw new Error(
          `${file} ${args.join(" ")} ended with ${end.code ?? end.signal}:\n${end.stdout}${end.stderr}`,
        );
      });
      ended.catch(() => {});
      for (;;) {
        const found = pattern.exec(output.stdout);
        if (found) return found;
        await Promise.race([ended, once(child.stdout, "data")]);
      }
    },
    ignoreOutput() {
      for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners("data").resume();
    },
    kill: (signal) => void child.kill(signal),
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return exit;
    },
    async [Symbol.asyncDispose]() {
      if (running.has(pid)) killTree(pid);
      for (const stream of [child.stdout, child.stderr]) stream.resume(); // a paused stream never ends
      await exit.catch(() => {}); // rejected when it could not be started
    },
  };
}

/** Runs a program that is expected to end by itself, and is killed when it does not within a time (ms). */
export async function runProgram(
  command: readonly string[],
  { limitMs = RUN_LIMIT_MS, ...options }: ProgramOptions & { readonly limitMs?: number } = {},
): Promise<Exit> {
  const program = startProgram(command, options);
  const timer = setTimeout(() => killTree(program.pid), limitMs);
  return program.exit.finally(() => clearTimeout(timer));
}

/** Runs a program, and resolves with its output. Rejects with the output when it fails. */
export async function outputOf(
  command: readonly string[],
  options?: Parameters<typeof runProgram>[1],
): Promise<string> {
  const { code, signal, stdout, stderr } = await runProgram(command, options);
  if (code === 0) return stdout;
  throw new Error(`${command.join(" ")} ended with ${code ?? signal}:\n${stdout}${stderr}`);
}

/** A server as operators run it. */
export type ServerProcess = Program & {
  readonly url: string;
  /** Its output until it was ready. */
  readonly welcome: string;
  /** Milliseconds from its start until it was ready. */
  readonly startedInMs: number;
};

export type ServerProcessOptions = ProgramOptions & {
  /** The program to run instead of the server. */
  readonly command?: readonly string[];
  /** The output that shows that it is ready. */
  readonly ready?: RegExp;
};

/**
 * Starts a server on a free port, and resolves when it takes calls. Without `DATA_DIR` and `DATABASE_URL` it gets a new data
 * folder, which is removed with it. Rejects with its output when it ends before that.
 */
export async function startServerProcess(options: ServerProcessOptions = {}): Promise<ServerProcess> {
  const { env = {}, command = commandOf(env), ready = SERVER_READY, ...others } = options;
  const folder =
    env.DATA_DIR === undefined && env.DATABASE_URL === undefined ? await makeTempDir() : undefined;
  const program = startProgram(command, {
    ...others,
    env: { PORT: "0", DATA_DIR: folder ?? "unused", ...env },
  });
  const dispose = async () => {
    await program[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    const { input: welcome } = await program.untilPrinted(ready);
    const startedInMs = performance.now() - program.startedAtMs;
    const url = /https?:\/\/[^/\s"]+/.exec(welcome)?.[0] ?? "";
    return { ...program, url, welcome, startedInMs, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The process and all that it has started, directly and indirectly. */
export function descendantsOf(root: number): number[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const pids = [root];
  for (const pid of pids) {
    for (const [child, parent] of rows) if (parent === pid && child !== undefined) pids.push(child);
  }
  return pids;
}

/** Signals a process, also when it has ended meanwhile. */
export function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

function killTree(root: number): void {
  for (const pid of descendantsOf(root)) trySignal(pid, "SIGKILL");
}

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
export async function installTools(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(ROOT, ".cache", name);
  await installOnce(folder, packages.join(), async () => {
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
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
