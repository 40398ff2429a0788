import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The tests that Stryker runs on each mutant of the code: those that start no process. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: ["test/unit/{client,openapi,server}/**/*.test.ts", "test/client/trace.test.ts"],
    setupFiles: ["test/helpers/setup/worker.ts"],
  },
});
