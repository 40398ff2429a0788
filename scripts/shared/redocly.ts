/** Runs the Redocly command line, which bundles and lints the contract. */
import { createRequire } from "node:module";
import { ROOT } from "./root.ts";
import { run } from "./run-program.ts";

/** The arguments with which Node runs the Redocly command line. */
export const REDOCLY = [createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js")];

/** Runs the Redocly command line, which has no JavaScript interface, and resolves with its standard output. */
export const runRedocly = (args: readonly string[], { cwd = ROOT } = {}) =>
  run(process.execPath, [...REDOCLY, ...args], cwd);
