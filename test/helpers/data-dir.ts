import { cp, rm } from "node:fs/promises";
import { inject } from "vitest";
import { makeTempDir } from "./temp-dir.ts";

/** A data folder whose tables are made, that outlives the processes on it. */
export async function givenDataDir(): Promise<AsyncDisposable & { readonly dataDir: string }> {
  const dataDir = await makeTempDir();
  await cp(inject("embeddedTemplateDir"), dataDir, { recursive: true });
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}
