import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** Whether the docs and the console are built. */
    pagesBuilt: boolean;
  }
}

/**
 * Builds the docs and the console, if they are stale, before any test: in a fresh clone two tests would otherwise build them at
 * the same time, while others read them.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ("pagesBuilt" in vitest.getProvidedContext()) return;
  vitest.provide("pagesBuilt", true);
  await promisify(execFile)(process.execPath, ["scripts/pages/build-pages.ts"], { cwd: vitest.config.root });
}
