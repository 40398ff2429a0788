import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hashFiles } from "../command/files.ts";
import { ROOT } from "../command/root.ts";

export const SOURCE = join(ROOT, "server/sandbox/console");
export const DIST = join(SOURCE, "dist");
/** Holds the hash of the sources of the last build. */
export const STAMP = join(DIST, "sources.sha256");
/** How to verify a delivery; the client's README shows it, and its tests run it. */
export const VERIFICATION = "docs/examples/describe-delivery.mts";
/** What it shares with the docs. */
export const SHARED_STYLE = "docs/shared.css";

/** Whether the built console matches its sources. Apart from the build, so that a start does not load a bundler. */
export async function isConsoleCurrent(): Promise<boolean> {
  return (await readFile(STAMP, "utf8").catch(() => "none")) === (await hashSources());
}

export function hashSources(): Promise<string> {
  return hashFiles([
    "server/sandbox/{console/{,data/,parts/,views/},try-it/}*.{ts,tsx,css}",
    "scripts/docs/reference/calls.ts",
    "openapi/sandbox/scenarios.arazzo.yaml",
    "openapi/generated/{openapi,sandbox}.json",
    VERIFICATION,
    SHARED_STYLE,
    "scripts/console/*.ts",
    "openapi/document/*.ts",
    "node_modules/{preact,openapi-fetch,rolldown}/package.json",
  ]);
}
