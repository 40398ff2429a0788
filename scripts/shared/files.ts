/** Files and folders of builds: temporary ones, replaced at once, and built only if a source has changed. */
import { createHash } from "node:crypto";
import { glob, mkdir, mkdtempDisposable, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./root.ts";

/** Calls `use` with a new folder, and removes the folder afterwards. */
export async function withTempDir<T>(use: (folder: string) => Promise<T>): Promise<T> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "refund-contract-"));
  return await use(folder.path);
}

/** Writes a file atomically: a concurrent reader or writer sees the old file or the new one, never a part. */
export async function replaceFile(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, content);
  await rename(draft, path);
}

/** A hash of files of the project, by their paths and their content. In a fresh clone, the files' times would mean nothing. */
export async function hashFiles(patterns: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  const paths = new Set<string>();
  for await (const path of glob(patterns, { cwd: ROOT })) paths.add(path);
  for (const path of [...paths].sort()) hash.update(path).update(await readFile(join(ROOT, path)));
  return hash.digest("hex");
}

/** Holds the hash of the sources of a folder's last build. */
export const STAMP = "sources.sha256";

/** Calls `build`, unless the folder's last build is of the same sources. An interrupted build leaves no stamp, so it counts as stale. */
export async function buildIfStale(
  folder: string,
  sources: readonly string[],
  build: () => Promise<void>,
): Promise<void> {
  const stamp = await hashFiles(sources);
  if ((await readFile(join(folder, STAMP), "utf8").catch(() => "none")) === stamp) return;
  await rm(join(folder, STAMP), { force: true });
  await build();
  await replaceFile(join(folder, STAMP), stamp);
}
