/** Vitest's set-up for tests that need the built docs. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** Whether the docs are built. */
    docsBuilt: boolean;
  }
}

/**
 * Builds the docs, if they are stale, before any test: in a fresh clone two tests would otherwise build them at
 * the same time, while others read them.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ("docsBuilt" in vitest.getProvidedContext()) return;
  vitest.provide("docsBuilt", true);
  await promisify(execFile)(process.execPath, ["scripts/docs/build-docs.ts", "--if-stale"], {
    cwd: vitest.config.root,
  });
}
