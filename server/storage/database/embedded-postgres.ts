import { createReadStream, existsSync, openAsBlob, statSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { createGunzip } from "node:zlib";
import { PGlite, parse, protocol, type Results, types } from "@electric-sql/pglite";
import { sql } from "kysely";
import { unpackTar } from "modern-tar/fs";
import pLimit from "p-limit";
import { IN_MEMORY } from "../../config/database-and-retention.ts";
import { DataDirError, lockDataDir, unusable } from "./data-folder-lock.ts";
import type { Db } from "./db-types.ts";
import { StoreStartError } from "./start-error.ts";

/**
 * Opens the embedded PostgreSQL of a data folder for this process alone, or a new one in memory.
 * @returns the store, and the function that unlocks the folder, to be called after the store is closed
 * @throws DataDirError when another process uses the folder, it can't be written, its disk is full, or its database is gone
 */
export async function openEmbedded(dataDir: string): Promise<{ pglite: Embedded; unlock: () => void }> {
  if (dataDir === IN_MEMORY) return { pglite: await openInMemory(), unlock: () => {} };
  await makeFolder(dataDir);
  const unlock = lockDataDir(dataDir);
  try {
    return { pglite: await openCluster(join(dataDir, CLUSTER_FOLDER)), unlock };
  } catch (error) {
    unlock();
    throw NO_SPACE.test(inspect(error)) ? unusable(dataDir, "no space left on its disk") : error;
  }
}

export const CLUSTER_FOLDER = "postgres";

/** The messages of Node, PostgreSQL and its WebAssembly runtime for a full disk. */
const NO_SPACE = /ENOSPC|No space left on device|errno: 51\b/;

/** Creates a folder with its parents. Node's `recursive` never ends on a system that reports every parent as missing. */
async function makeFolder(folder: string): Promise<void> {
  const make = () => mkdir(folder, { mode: 0o700 });
  try {
    await make();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await make();
  }
}

const SETTINGS = [
  // A store for one process needs little; PostgreSQL's default of 128 MB would be most of the server's memory.
  "shared_buffers=8MB",
  "max_connections=4", // each takes memory, and there is one
  "wal_buffers=1MB",
  "maintenance_work_mem=4MB",
  "default_statistics_target=10",
  // The prepared cluster has the time zone of the machine on which it was created.
  "timezone=UTC",
  "log_timezone=UTC",
];

const OPTIONS = { parsers: { [types.INT8]: Number }, postgresqlconf: SETTINGS };

/**
 * An empty file next to the database, which says that there is one. In a backup without the database, its name tells people
 * what is missing.
 */
const MARKER = "has-postgres-folder";

async function openCluster(folder: string): Promise<Embedded> {
  const marker = join(dirname(folder), MARKER);
  if (!existsSync(folder)) {
    // An empty database would look as if nothing had ever been stored.
    if (existsSync(marker))
      throw new DataDirError(
        `The folder ${folder} is gone, but not the rest of its data folder. Put it back, or remove the whole of DATA_DIR to begin anew.`,
      );
    await createCluster(folder);
  }
  try {
    const pglite = await PGlite.create(folder, OPTIONS);
    if (!existsSync(marker)) await writeFile(marker, "");
    return planOnce(pglite);
  } catch (error) {
    if (NO_SPACE.test(inspect(error))) throw error;
    throw await explainDamage(folder, error);
  }
}

const FOLDER_CHECK_MS = 500;

/** In the cluster's folder: what a clean-up may remove alone. */
const WATCHED = ["", "base", "global", "pg_wal"];

/** Calls back once when a folder of the data is gone, or is another one: a process goes on to write to files without a name. */
export function watchFolder(dataDir: string, onLost: (error: Error) => void): () => void {
  if (dataDir === IN_MEMORY) return () => {};
  const folders = WATCHED.map((name) => join(dataDir, CLUSTER_FOLDER, name));
  const read = () => folders.map((folder) => statSync(folder, { throwIfNoEntry: false })?.ino).join();
  const first = read();
  const timer = setInterval(() => {
    if (read() === first) return;
    clearInterval(timer);
    onLost(
      new Error(
        `the data folder ${dataDir}, or a part of it, was removed: start again, on a folder that stays`,
      ),
    );
  }, FOLDER_CHECK_MS).unref();
  return () => clearInterval(timer);
}

/** What the store uses of PGlite. */
export type Embedded = Pick<
  PGlite,
  "query" | "exec" | "transaction" | "listen" | "close" | "closed" | "ready" | "waitReady"
>;

/** The PostgreSQL of all stores in the memory of this process, each of which has a schema of its own. */
let inMemory: Promise<Embedded> | undefined;
let stores = 0;
/** Its one session is of one store at a time. */
const inTurn = pLimit(1);
let schemas = 0;
let current = "";

/** Nothing of it is ever written to disk. A further store starts in a tenth of the time of the first one. */
async function openInMemory(): Promise<Embedded> {
  stores += 1;
  inMemory ??= createInMemory();
  const pglite = await inMemory;
  const schema = schemas === 0 ? "public" : `store_${schemas}`; // the first one may have its tables already
  schemas += 1;
  let closed = false;
  const asOwn = <Result>(work: () => Promise<Result>) =>
    inTurn(async () => {
      if (closed) throw new Error("the store is closed");
      if (current !== schema) await pglite.exec(`set search_path = ${schema}`);
      current = schema;
      return work();
    });
  await inTurn(() => pglite.exec(`create schema if not exists ${schema}`));
  return {
    query: (...given) => asOwn(() => pglite.query(...given)),
    exec: (...given) => asOwn(() => pglite.exec(...given)),
    transaction: (work) => asOwn(() => pglite.transaction(work)),
    listen: (...given) => pglite.listen(...given),
    async close() {
      stores -= 1;
      const isLast = stores === 0;
      if (isLast) [inMemory, schemas] = [undefined, 0]; // an open one would keep the process alive
      await asOwn<unknown>(() => (isLast ? pglite.close() : pglite.exec(`drop schema ${schema} cascade`)));
      closed = true;
      current = ""; // a next PostgreSQL begins anew
    },
    get closed() {
      return closed;
    },
    ready: true,
    waitReady: Promise.resolve(),
  };
}

async function createInMemory(): Promise<Embedded> {
  const loadDataDir = await openAsBlob(preparedCluster(), { type: "application/gzip" });
  return planOnce(await PGlite.create({ dataDir: "memory://", loadDataDir, ...OPTIONS }));
}

/** More than the application has; statements that are built for a list differ with its length. */
const MAX_PLANS = 200;

/**
 * Lets PostgreSQL plan each statement once, when it comes for the second time: that takes longer than most statements do. The
 * library plans each time; it still does so in transactions, which are rare.
 */
function planOnce(pglite: PGlite): Embedded {
  const { serialize } = protocol;
  const planAndRun = pglite.query.bind(pglite);
  /** By their texts, the types of the values of those that came before; undefined until the second time. */
  const plans = new Map<string, { readonly name: string; types?: readonly number[] }>();
  const send = (...messages: Uint8Array[]) =>
    pglite.execProtocolStream(Buffer.concat([...messages, serialize.sync()]), { syncToFs: false });

  const query: Embedded["query"] = async (text, values = [], options) => {
    const plan = plans.get(text);
    if (!plan) {
      if (values.length > 0 && plans.size < MAX_PLANS) plans.set(text, { name: `plan_${plans.size}` });
      return planAndRun(text, values, options);
    }
    await pglite._checkReady();
    return pglite._runExclusiveTransaction(() =>
      pglite._runExclusiveQuery(async () => {
        const { name } = plan;
        plan.types ??= parse.parseDescribeStatementResults(
          await send(serialize.parse({ name, text }), serialize.describe({ type: "S", name })),
        );
        const texts = values.map((value, index) => {
          if (value === null || value === undefined) return null;
          return pglite.serializers[plan.types?.[index] ?? 0]?.(value) ?? `${value}`;
        });
        const bound = serialize.bind({ statement: name, values: texts });
        const results = await send(bound, serialize.describe({ type: "P" }), serialize.execute());
        await pglite.syncToFs();
        return parse.parseResults(results, pglite.parsers, options)[0] as Results<never>;
      }),
    );
  };
  return Object.assign(pglite, { query });
}

/** The release of PostgreSQL whose files the embedded store reads. */
const MAJOR_VERSION = "18";

/** PostgreSQL itself only reports that it failed, or aborts. */
async function explainDamage(folder: string, cause: unknown): Promise<StoreStartError> {
  const version = (await readFile(join(folder, "PG_VERSION"), "utf8").catch(() => "")).trim();
  if (/^\d+$/.test(version) && version !== MAJOR_VERSION) {
    return new StoreStartError(
      `The data in ${folder} is of PostgreSQL ${version}, and this release reads ${MAJOR_VERSION}. Start the release that wrote it, or choose another folder with DATA_DIR.`,
      { cause },
    );
  }
  return new StoreStartError(
    `The data in ${folder} is damaged. Restore the folder from a backup, or choose another one with DATA_DIR.`,
    { cause },
  );
}

/**
 * The files of a PostgreSQL, as a compressed archive, because `initdb` in WebAssembly takes two seconds. A build has one with our
 * tables beside it; migrations bring any other one to the same form.
 */
function preparedCluster(): string {
  const own = fileURLToPath(new URL("cluster.tgz", import.meta.url));
  if (existsSync(own)) return own;
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve("@electric-sql/pglite-prepopulatedfs")), "prepopulatedfs.tgz");
}

/**
 * Creates the files of a new PostgreSQL in a folder that does not exist yet. They are written to a folder next to it,
 * which is then renamed, so that a killed process leaves no folder that looks complete.
 */
async function createCluster(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const files = unpackTar(unfinished, {
    // In the archive, everyone may write to it.
    map: (header) => ({ ...header, mode: header.type === "directory" ? 0o700 : 0o600 }),
  });
  await pipeline(createReadStream(preparedCluster()), createGunzip(), files);
  await rename(unfinished, folder);
}

/** The tables that PostgreSQL's autovacuum would choose, with higher thresholds, because a vacuum blocks this process. */
const TABLES_TO_VACUUM = `
  select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
  where n_dead_tup > 1000 + 0.2 * n_live_tup or n_mod_since_analyze > 1000 + 0.1 * n_live_tup`;

/**
 * Vacuums and analyzes the tables with many dead rows. PostgreSQL's autovacuum does so by itself; the embedded store has
 * none, and without it a search for due rows would read every row that was ever due.
 */
export async function vacuum(db: Db): Promise<void> {
  const { rows } = await sql.raw<{ name: string }>(TABLES_TO_VACUUM).execute(db);
  const failures: unknown[] = [];
  for (const { name } of rows) {
    const vacuumed = sql.raw(`vacuum (analyze) ${name}`).execute(db);
    await vacuumed.catch((error: unknown) => failures.push(error)); // the others are vacuumed all the same
  }
  if (failures.length > 0) throw new AggregateError(failures, "some tables can't be vacuumed");
}
