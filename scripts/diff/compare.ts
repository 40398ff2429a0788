import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { findChanges } from "../../openapi/diff/diff.ts";
import type { Change } from "../../openapi/diff/law.ts";
import { countLevels, FORMATS } from "../../openapi/diff/report.ts";
import { headingsOf } from "../../openapi/document/headings.ts";
import { checkVersion, compareVersions, type Verdict } from "./version.ts";

export type Diff = { readonly changes: readonly Change[]; readonly verdict: Verdict };

const RELEASED = "openapi/released";
/** The changelog of the contract; that of the software is another. */
export const CHANGELOG = "openapi/CHANGELOG.md";

/** Compares two contracts, each the path of a bundle. */
export async function diffContracts(from: string, to: string): Promise<Diff> {
  const [base, revision] = await Promise.all(
    [from, to].map(async (path) => parse(await readFile(path, "utf8"))),
  );
  const changes = findChanges(base, revision);
  return { changes, verdict: checkVersion(changes, base.info.version, revision.info.version) };
}

/** The path of the newest contract that was released, in the project at `root`. Fails when there is none. */
export async function newestRelease(root: string): Promise<string> {
  const names = (await readdir(join(root, RELEASED))).filter((name) => name.endsWith(".yaml"));
  const newest = names
    .map((name) => name.replace(/\.yaml$/, ""))
    .toSorted(compareVersions)
    .at(-1);
  if (newest === undefined)
    throw new Error(`${RELEASED} has no release: copy the bundle there, named 1.0.0.yaml.`);
  return join(root, RELEASED, `${newest}.yaml`);
}

/** Reports a version whose changes the changelog does not describe. */
export function findChangelogError(changelog: string, version: string): string | undefined {
  const headings = headingsOf(changelog);
  if (headings.some(({ level, text }) => level === 2 && text === version)) return undefined;
  return `${CHANGELOG} has no entry for ${version}: add "## ${version}", and below it what changed and for whom.`;
}

/** The changes, the most severe first, and the version that they require. */
export function renderReport(
  changes: readonly Change[],
  { released, version, need, required }: Verdict,
): string {
  if (need === "none") return `No change since ${released}. info.version says ${version}.`;
  const last = `Since ${released}: ${countLevels(changes)}. That needs ${required}. info.version says ${version}.`;
  return `${FORMATS.text(changes)}\n\n${last}`;
}
