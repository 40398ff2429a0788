import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** The scripts that this run has started. */
    builds: readonly string[];
  }
}

/**
 * Vitest's set-up for tests that need what a script builds. It builds that, if it is stale, before any test: in a fresh clone two
 * tests would otherwise build it at the same time, while others read it.
 */
export function buildOnce(script: string, ...args: string[]) {
  return async ({ vitest }: TestProject): Promise<void> => {
    const { builds = [] } = vitest.getProvidedContext();
    if (builds.includes(script)) return;
    vitest.provide("builds", [...builds, script]);
    await promisify(execFile)(process.execPath, [script, ...args], { cwd: vitest.config.root });
  };
}
