/** Vitest's set-up for tests that need the built console. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** Whether the console is built. */
    consoleBuilt: boolean;
  }
}

/**
 * Builds the console, if it is stale, before any test: in a fresh clone two tests would otherwise build it at
 * the same time, while others read it.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  if ("consoleBuilt" in vitest.getProvidedContext()) return;
  vitest.provide("consoleBuilt", true);
  await promisify(execFile)(process.execPath, ["scripts/console/build-console.ts"], {
    cwd: vitest.config.root,
  });
}
