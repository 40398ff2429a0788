import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "../../openapi/diff/change.ts";
import { renderChanges } from "../../openapi/diff/diff.ts";
import { diffContracts } from "../diff/compare.ts";
import { compareVersions } from "../diff/version.ts";
import { type Parts, partsOf, splitSections } from "./markdown.ts";

/** What changed in a version of the contract since the previous one, in Markdown, by versions. */
export type Releases = ReadonlyMap<string, string>;

/** Compares each release with the previous one, and the present contract with the last release, when its version is new. */
export async function readReleases(released: string, current: string): Promise<Releases> {
  const files = (await readdir(released)).filter((name) => name.endsWith(".yaml"));
  const contracts = await Promise.all(
    [...files.map((name) => join(released, name)), current].map(readVersion),
  );
  // A released version is taken from the release, whatever the working tree has now.
  const known = new Map(contracts.toReversed().map((contract) => [contract.version, contract]));
  const sorted = [...known.values()].sort((a, b) => compareVersions(a.version, b.version));
  const described = sorted.map(async ({ version, path }, index) => {
    const previous = sorted[index - 1];
    if (!previous) return [version, FIRST] as const;
    const { changes } = await diffContracts(previous.path, path);
    return [version, describe(previous.version, changes)] as const;
  });
  return new Map(await Promise.all(described));
}

async function readVersion(path: string) {
  const { info } = parse(await readFile(path, "utf8"));
  return { path, version: String(info.version) };
}

/** Adds to each version of the changelog its semantic diff to the previous one. */
export function fillChangelog(parts: Parts, releases: Releases): Parts {
  const { before, sections } = splitSections(parts, 2);
  const filled = sections.flatMap(({ title, heading, parts: own }) => [
    heading,
    ...own,
    ...partsOf(releases.get(title) ?? ""),
  ]);
  return [...before, ...filled];
}

const FIRST = "**Semantic diff:** it is the first release, so there is nothing to compare it with.";

function describe(before: string, changes: readonly Change[]): string {
  if (changes.length === 0) return `**Semantic diff to ${before}:** no change of the contract.`;
  return [`**Semantic diff to ${before}:**`, "```text", ...renderChanges(changes), "```"].join("\n");
}
