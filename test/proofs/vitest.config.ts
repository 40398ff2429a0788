import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";

/** The proofs that are tests, and not part of `npm test`: `npm run proof -- faults`, and `citus`. */
// biome-ignore lint/style/noDefaultExport: the form that Vitest reads
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../../", import.meta.url)),
    projects: [
      toProject("faults", ["test/helpers/setup/databases.ts"]),
      // Each has a cluster of its own.
      toProject("citus", []),
    ],
  },
});

function toProject(name: string, globalSetup: string[]): TestProjectConfiguration {
  const limits = { testTimeout: 30 * 60_000, hookTimeout: 60_000 };
  return {
    extends: true,
    test: { name, include: [`test/proofs/${name}/*.test.ts`], globalSetup, ...limits },
  };
}
