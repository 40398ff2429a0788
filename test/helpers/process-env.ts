import { fileURLToPath } from "node:url";

/**
 * The environment of a process that a test starts. From the test run's own environment it takes only the search path,
 * because exported settings would otherwise apply to the process. It also contains a setting that makes Node start faster.
 */
export const PROCESS_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  NODE_OPTIONS: `--import ${new URL("./baseline-wasm.ts", import.meta.url)}`,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../.cache/node", import.meta.url)),
};
