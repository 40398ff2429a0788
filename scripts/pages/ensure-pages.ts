import { CONSOLE, DOCS, isCurrent } from "../command/built-folder.ts";

/* What builds pages takes a second to load, so it is loaded only then. */

/** Builds the docs, unless they are what their sources make. */
export async function ensureDocs(): Promise<void> {
  if (!(await isCurrent(DOCS))) await (await import("../docs/docs.ts")).buildDocs();
}

/** Builds the console, unless it is what its sources make. */
export async function ensureConsole(): Promise<void> {
  if (!(await isCurrent(CONSOLE))) await (await import("./build-console.ts")).buildConsole();
}
