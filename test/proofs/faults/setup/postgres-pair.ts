import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { findFreePort } from "../../../helpers/network/free-port.ts";
import {
  chooseUser,
  runProgram,
  runStatement,
  signalAll,
  stopPostgres,
  untilReady,
} from "../../../helpers/postgres.ts";
import { until } from "../../../helpers/subscriber.ts";
import { findProgram } from "./programs.ts";

const DEBIAN = "/usr/lib/postgresql";

/** A PostgreSQL server with a synchronous standby: every commit is on both. */
export type PostgresPair = AsyncDisposable & {
  readonly ports: { readonly primary: number; readonly standby: number };
  /** Kills the primary, and promotes the standby. */
  failOver(): Promise<void>;
  /** Pauses all processes of the standby, so that no commit on the primary completes. */
  freezeStandby(): void;
  thawStandby(): void;
  /** How many clients are connected to the primary. */
  countClients(): Promise<number>;
};

/** The folder of PostgreSQL's programs, including those for a standby; undefined when they are missing. */
export function findPostgresPrograms(): string | undefined {
  const onPath = findProgram("pg_basebackup");
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin"))
    : [];
  return versions.findLast((bin) => existsSync(join(bin, "pg_basebackup"))) ?? (onPath && dirname(onPath));
}

export async function startPostgresPair(bin: string): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), "refund-contract-pair-"));
  await chmod(folder, 0o755);
  const identity = chooseUser();
  const options = { ...identity, cwd: folder };
  const ports = { primary: await findFreePort(), standby: await findFreePort() };
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const run = (program: string, ...args: string[]) => runProgram(spawn(join(bin, program), args, options));
  const folderOf = async (name: string) => {
    const path = join(folder, name);
    await mkdir(path, { mode: 0o700 });
    if (identity) await chown(path, identity.uid, identity.gid);
    return path;
  };
  const servers: ChildProcess[] = [];
  const start = async (data: string, port: number) => {
    const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=100"];
    const args = ["-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])];
    const server = spawn(join(bin, "postgres"), args, options);
    servers.push(server);
    await untilReady(server);
    return server;
  };
  const stop = async () => {
    for (const server of servers) signalAll(server, "SIGCONT");
    await Promise.all(servers.map(stopPostgres));
    await rm(folder, { recursive: true });
  };
  try {
    const primaryData = await folderOf("primary");
    await run(
      "initdb",
      `--pgdata=${primaryData}`,
      "--auth=trust",
      "--username=postgres",
      "--encoding=UTF8",
      "--no-locale",
    );
    const primary = await start(primaryData, ports.primary);
    await runStatement(urlOf(ports.primary), "create role haproxy login");
    const standbyData = await folderOf("standby");
    await run(
      "pg_basebackup",
      "-h",
      "127.0.0.1",
      "-p",
      `${ports.primary}`,
      "-U",
      "postgres",
      "-D",
      standbyData,
      "-R",
      "-c",
      "fast",
    );
    const standby = await start(standbyData, ports.standby);
    // Only now, so that the standby, once it is the primary, does not wait for a standby itself.
    await runStatement(urlOf(ports.primary), "alter system set synchronous_standby_names = '*'");
    await runStatement(urlOf(ports.primary), "select pg_reload_conf()");
    const count = (text: string) => countRows(urlOf(ports.primary), text);
    await until(async () => (await count("pg_stat_replication where sync_state = 'sync'")) || undefined);
    return {
      ports,
      async failOver() {
        const closed = once(primary, "close");
        primary.kill("SIGKILL");
        await closed;
        await runStatement(urlOf(ports.standby), "select pg_promote()");
      },
      freezeStandby: () => signalAll(standby, "SIGSTOP"),
      thawStandby: () => signalAll(standby, "SIGCONT"),
      countClients: () => count("pg_stat_activity where backend_type = 'client backend'"),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function countRows(databaseUrl: string, from: string): Promise<number> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${from}`);
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
