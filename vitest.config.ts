import { defaultExclude, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/helpers/longest-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Long, and with processes that get in each other's way: a command of their own.
    exclude: [...defaultExclude, "test/faults/**"],
    // Both cores: much of a test's time is waiting for a process of its own.
    maxWorkers: 2,
    // A file that starts a server in its process loads for three seconds what the file before has loaded already.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    globalSetup: ["test/helpers/databases-setup.ts", "test/helpers/browser-setup.ts"],
    // Real databases start inside tests and hooks; on a busy machine that takes seconds, and is no fault.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
