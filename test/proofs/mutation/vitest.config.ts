import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The tests that Stryker runs on each mutant of the code: of these, those that import the mutated file. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: ["test/{unit,client,openapi,server/{http,webhooks}}/**/*.test.ts", "test/scripts/*.test.ts"],
    globalSetup: ["test/helpers/setup/databases.ts"],
    setupFiles: ["test/helpers/wasm-flags.ts", "test/helpers/setup/worker.ts"],
    ...{ testTimeout: 90_000, hookTimeout: 360_000 },
  },
});
