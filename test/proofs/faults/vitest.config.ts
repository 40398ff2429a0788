import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The long fault tests, which are not part of `npm test`: `npm run proof -- faults`. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: ["test/proofs/faults/*.test.ts"],
    maxWorkers: 2,
    globalSetup: ["test/helpers/setup/databases.ts"],
    testTimeout: 30 * 60_000,
    hookTimeout: 60_000,
    // Shows progress at once.
    disableConsoleIntercept: true,
  },
});
