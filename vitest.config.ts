import { fileURLToPath } from "node:url";
import { defaultExclude, defineConfig, type TestProjectConfiguration } from "vitest/config";
import { LongestFirst } from "./test/helpers/setup/longest-first.ts";
import { findUnitTests } from "./test/helpers/setup/unit-tests.ts";

export const DATABASES = "test/helpers/setup/databases.ts";
const BROWSER = "test/helpers/setup/browser.ts";
export const PAGES = "test/helpers/setup/pages.ts";

const unitTests = findUnitTests();

export default defineConfig({
  test: {
    // Once, unless `--watch` is asked for.
    watch: false,
    // Both cores: much of a test's time is waiting for a process of its own.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // For the commands that tests run: most of their time is to load what they are made of.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/node", import.meta.url)) },
    projects: [
      toProject("unit", unitTests, []),
      toProject("server", testsIn("server", "production", "sandbox", "admin"), [DATABASES, PAGES]),
      toProject("storage", testsIn("storage", "webhooks", "lifecycle"), [DATABASES, PAGES]),
      toProject("contract", testsIn("contract", "fuzz"), [DATABASES, PAGES]),
      toProject("client", testsIn("client", "packages"), [DATABASES, PAGES, BROWSER]),
      toProject("docs", testsIn("docs", "console", "supply-chain"), [DATABASES, PAGES, BROWSER]),
    ],
  },
});

export function testsIn(...folders: readonly string[]): string[] {
  return folders.map((folder) => `test/${folder}/**/*.test.ts`);
}

/** A group of test files, and the set-up that starts what they share; Vitest runs it only with one of the files. */
export function toProject(
  name: string,
  include: readonly string[],
  globalSetup: readonly string[],
  leftOut: readonly string[] = [],
): TestProjectConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      exclude: [...defaultExclude, ...(name === "unit" ? [] : unitTests), ...leftOut],
      globalSetup: [...globalSetup],
      setupFiles: ["test/lib/baseline-wasm.ts", "test/helpers/setup/seed.ts"],
      // Without isolation: a file that starts a server loads for three seconds what the file before it has loaded already.
      isolate: false,
      // No test is about these limits: they end a run that hangs. A busy machine must never reach them.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 120_000 } },
    },
  };
}
