import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { type Change, type Finding, toChanges } from "./change.ts";
import { compareContracts } from "./contracts.ts";
import { findLeftovers } from "./leftovers.ts";
import { runRedoclyDiff } from "./redocly-diff.ts";
import type { Node } from "./spot.ts";
import { compareVersions, judgeVersion, type Verdict } from "./version.ts";

export type Diff = { readonly changes: readonly Change[]; readonly verdict: Verdict };

const RELEASED = "openapi/released";

/** Compares two contracts, each the path of a bundle, by `redocly diff` and by our own check. */
export async function diffContracts(from: string, to: string): Promise<Diff> {
  const [base, revision] = await Promise.all(
    [from, to].map(async (path) => parse(await readFile(path, "utf8"))),
  );
  const redocly = await runRedoclyDiff(from, to);
  const changes = toChanges({ "redocly diff": redocly, "our own check": findChanges(base, revision) });
  return { changes, verdict: judgeVersion(changes, base.info.version, revision.info.version) };
}

/** What our own check finds: what callers and receivers have to live with, and whatever else differs. */
export function findChanges(base: Node, revision: Node): Finding[] {
  const found = compareContracts(base, revision);
  return [...found, ...findLeftovers(base, revision, found)];
}

/** The path of the newest contract that was released, in the project at `root`. Fails when there is none. */
export async function newestRelease(root: string): Promise<string> {
  const names = (await readdir(join(root, RELEASED))).filter((name) => name.endsWith(".yaml"));
  const newest = names
    .map((name) => name.replace(/\.yaml$/, ""))
    .toSorted(compareVersions)
    .at(-1);
  if (newest === undefined)
    throw new Error(`${RELEASED} holds no release: copy the bundle there, named 1.0.0.yaml.`);
  return join(root, RELEASED, `${newest}.yaml`);
}

/** Why the changelog does not say what a version changed, if so. */
export function changelogFault(changelog: string, version: string): string | undefined {
  if (changelog.split("\n").some((line) => line.trim() === `## ${version}`)) return undefined;
  return `CHANGELOG.md has no entry for ${version}: add "## ${version}", and below it what changed and for whom.`;
}
