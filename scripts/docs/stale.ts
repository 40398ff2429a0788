import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hashFiles } from "../command/files.ts";
import { ROOT } from "../command/root.ts";

/** Where the site is built. */
export const DIST = join(ROOT, "docs/dist");
/** Holds the hash of the sources of the last build. */
export const STAMP = join(DIST, "sources.sha256");

/** Whether the built site matches its sources. Apart from the build, so that a start does not load what builds pages. */
export async function isDocsCurrent(): Promise<boolean> {
  return (await readFile(STAMP, "utf8").catch(() => "none")) === (await hashSources());
}

/** A hash of everything that the site depends on. */
export function hashSources(): Promise<string> {
  return hashFiles([
    "*.md",
    "docs/*.*",
    "docs/{console,examples,guides,operate}/**/*.*",
    "client/README.md",
    "openapi/{,sandbox/}*.md",
    "openapi/{generated,released}/*.{json,yaml}",
    "openapi/{,sandbox/}{paths,webhooks}/*.yaml",
    "openapi/document/*.ts",
    "scripts/{command,diff,docs}/**/*.ts",
    "server/sandbox/console/data/theme.ts",
    "node_modules/@redocly/cli/package.json",
  ]);
}
