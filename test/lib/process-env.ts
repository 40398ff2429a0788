import { fileURLToPath } from "node:url";

/**
 * The environment of a process that a test starts. Of the test run's own environment it has only where programs are, because
 * settings that somebody exported would be the process's; and what makes Node start it in less time.
 */
export const PROCESS_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "",
  NODE_OPTIONS: `--import ${new URL("./baseline-wasm.ts", import.meta.url)}`,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../.cache/node", import.meta.url)),
};
