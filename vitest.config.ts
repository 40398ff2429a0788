import { fileURLToPath } from "node:url";
import { defaultExclude, defineConfig, type TestProjectConfiguration } from "vitest/config";

const DATABASES = "test/helpers/setup/databases.ts";
const BROWSER = "test/helpers/browser.ts";
const CONSOLE = "test/helpers/setup/console.ts";
const DOCS = "test/helpers/setup/docs.ts";

// A machine of CI is shared, and several times as slow at its worst.
const TIMEOUT_MS = process.env.CI ? 90_000 : 15_000;

export default defineConfig({
  test: {
    // Once, unless `--watch` is asked for.
    watch: false,
    // One more than the cores of CI: a quarter of the tests' time is waiting, for time limits and for other processes.
    maxWorkers: 3,
    // For the commands that tests run: most of their time is to load what they are made of.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/node", import.meta.url)) },
    projects: [
      toProject("unit", testsIn("unit"), []),
      toProject("server", testsIn("server/{auth,http,operators,sandbox}"), [DATABASES, CONSOLE]),
      toProject("storage", testsIn("server/{storage,webhooks,lifecycle}"), [DATABASES]),
      toProject("contract", testsIn("openapi", "client"), [DATABASES]),
      toProject("scripts", ["test/scripts/*.test.ts"], [DATABASES]),
      // The long ones, which `npm test` leaves to `npm test -- --whole`:
      toProject("browser", testsIn("browser"), [DATABASES, CONSOLE, DOCS, BROWSER]),
      toProject("guides", testsIn("guides"), [DATABASES]),
      toProject("kit-tests", testsIn("kit-tests"), [DATABASES]),
      toProject("processes", testsIn("server/process"), [DATABASES]),
      toProject("trials", testsIn("server/trials"), [DATABASES]),
      toProject("packages", testsIn("scripts/packages"), [DATABASES, CONSOLE, DOCS]),
    ],
  },
});

function testsIn(...folders: readonly string[]): string[] {
  return folders.map((folder) => `test/${folder}/**/*.test.ts`);
}

/** A group of test files, and the set-up that starts what they share; Vitest runs it only with one of the files. */
function toProject(
  name: string,
  include: readonly string[],
  globalSetup: readonly string[],
): TestProjectConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      exclude: [...defaultExclude],
      globalSetup: [...globalSetup],
      setupFiles: ["wasm-flags", "setup/worker"].map((name) => `test/helpers/${name}.ts`),
      // Without isolation: a file that starts a server loads for three seconds what the file before it has loaded already.
      isolate: false,
      testTimeout: TIMEOUT_MS,
      hookTimeout: 4 * TIMEOUT_MS,
      expect: { poll: { timeout: TIMEOUT_MS - 5_000 } },
    },
  };
}
