import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The proofs on a cluster, which are not part of `npm test`: `npm run proof -- engines`. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: ["test/proofs/engines/*.test.ts"],
    // Each has a cluster of its own, and measures.
    maxWorkers: 1,
    testTimeout: 30 * 60_000,
    hookTimeout: 60_000,
    // Shows progress at once.
    disableConsoleIntercept: true,
  },
});
