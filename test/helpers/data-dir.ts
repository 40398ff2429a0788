import { cpSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";

/** A new data folder whose tables are made, or an `empty` one; whoever makes it removes it. */
export async function makeDataDir({ empty = false } = {}): Promise<string> {
  const dataDir = await mkdtemp(join(inject("storesDir"), "data-"));
  // All at once: a promise for each of a thousand small files takes several times as long.
  if (!empty) cpSync(inject("embeddedTemplateDir"), dataDir, { recursive: true });
  return dataDir;
}

/** A data folder whose tables are made, that outlives the processes on it. */
export async function givenDataDir(): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const dataDir = await makeDataDir();
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}
