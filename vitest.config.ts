import { defaultExclude, defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Long, and with processes that get in each other's way: a command of their own.
    exclude: [...defaultExclude, "test/faults/**"],
    // Both cores: much of a test's time is waiting for a process of its own.
    maxWorkers: 2,
    globalSetup: ["test/helpers/databases-setup.ts"],
    // Real databases start inside tests and hooks; on a busy machine that takes seconds, and is no fault.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
