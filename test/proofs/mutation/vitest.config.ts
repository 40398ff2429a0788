import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The tests that Stryker runs on each mutant of the code, if they import the mutated file; `TESTS` chooses others. */
const TESTS = "unit/**/* client/* openapi/* server/http/* server/webhooks/* scripts/*";

// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: (process.env.TESTS ?? TESTS).split(" ").map((path) => `test/${path}.test.ts`),
    globalSetup: ["test/helpers/setup/databases.ts"],
    setupFiles: ["test/helpers/wasm-flags.ts", "test/helpers/setup/worker.ts"],
    ...{ testTimeout: 90_000, hookTimeout: 360_000 },
  },
});
