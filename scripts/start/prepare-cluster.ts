import { createHash } from "node:crypto";
import { createWriteStream, existsSync, globSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { sql } from "kysely";
import { packTar } from "modern-tar/fs";
import { openDatabase } from "../../server/storage/database/database.ts";
import { CLUSTER_FOLDER } from "../../server/storage/database/embedded-postgres.ts";
import { migrateToLatest } from "../../server/storage/database/migrations.ts";
import { ROOT } from "../shared/root.ts";

/**
 * Makes the archive of an embedded store with the tables of this release, unless there is one, and returns its path. A new store is
 * unpacked from it in a third of the time that PostgreSQL would need to make the tables.
 */
export async function ensureCluster(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of globSync(["server/storage/database/*.ts", "package-lock.json"], { cwd: ROOT }).sort())
    hash.update(readFileSync(join(ROOT, path)));
  const file = join(ROOT, `.cache/cluster-${hash.digest("hex").slice(0, 16)}.tgz`);
  if (existsSync(file)) return file;
  const dataDir = `${file}.${process.pid}`;
  const draft = join(dataDir, "cluster.tgz");
  const { db, close } = await openDatabase({ dataDir });
  // For a second sandbox in the memory of a process.
  await sql`create schema store_1`.execute(db);
  await sql`set search_path = store_1`.execute(db);
  await migrateToLatest(db);
  // Two thirds of the files are of databases that nobody opens.
  await sql`update pg_database set datistemplate = false`.execute(db);
  for (const name of ["template0", "template1"]) await sql`drop database ${sql.id(name)}`.execute(db);
  await close();
  // PGlite unpacks only names that begin with a slash.
  const files = packTar(join(dataDir, CLUSTER_FOLDER), {
    map: (header) => ({ ...header, name: `/${header.name}` }),
  });
  await pipeline(files, createGzip({ level: 9 }), createWriteStream(draft));
  await rename(draft, file);
  await rm(dataDir, { recursive: true });
  return file;
}
