import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const NAME = "prepopulatedfs.tgz";

/**
 * Our packages contain the file itself: the package that it comes from would also install another release of the database.
 */
const NEIGHBOUR = new URL(NAME, import.meta.url);

/**
 * The files of an empty PostgreSQL, as a compressed archive. It was made in advance, because `initdb` in WebAssembly takes two
 * seconds.
 */
export async function readPreparedCluster(): Promise<Blob> {
  const installed = () => new URL(NAME, import.meta.resolve("@electric-sql/pglite-prepopulatedfs"));
  const file = existsSync(NEIGHBOUR) ? NEIGHBOUR : installed();
  return new Blob([await readFile(fileURLToPath(file))], { type: "application/gzip" });
}
