import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "../../openapi/diff/change.ts";
import { renderChanges } from "../../openapi/diff/diff.ts";
import { diffContracts } from "../diff/compare.ts";
import { compareVersions } from "../diff/version.ts";
import { type Parts, partsOf, splitSections } from "./markdown.ts";

/** A version of the contract, with its changes since the previous one; the first has none. */
export type Release = {
  readonly version: string;
  readonly before?: { readonly version: string; readonly changes: readonly Change[] };
};

/** Compares each release with the previous one, and the present contract with the last release, when its version is new. */
export async function readReleases(released: string, current: string): Promise<Release[]> {
  const files = (await readdir(released)).filter((name) => name.endsWith(".yaml"));
  const contracts = await Promise.all(
    [...files.map((name) => join(released, name)), current].map(readVersion),
  );
  // A released version is taken from the release, whatever the working tree has now.
  const known = new Map(contracts.toReversed().map((contract) => [contract.version, contract]));
  const sorted = [...known.values()].sort((a, b) => compareVersions(a.version, b.version));
  return Promise.all(
    sorted.map(async ({ version, path }, index) => {
      const previous = sorted[index - 1];
      if (!previous) return { version };
      const { changes } = await diffContracts(previous.path, path);
      return { version, before: { version: previous.version, changes } };
    }),
  );
}

async function readVersion(path: string) {
  const { info } = parse(await readFile(path, "utf8"));
  return { path, version: String(info.version) };
}

/** Adds to each version of the changelog its semantic diff to the previous one. */
export function fillChangelog(parts: Parts, releases: readonly Release[]): Parts {
  const { before, sections } = splitSections(parts, 2);
  const filled = sections.flatMap(({ title, heading, parts: own }) => {
    const release = releases.find(({ version }) => title === version);
    return [heading, ...own, ...(release ? partsOf(describe(release)) : [])];
  });
  return [...before, ...filled];
}

function describe({ before }: Release): string {
  if (!before) return "**Semantic diff:** it is the first release, so there is nothing to compare it with.";
  const { version, changes } = before;
  if (changes.length === 0) return `**Semantic diff to ${version}:** no change of the contract.`;
  return [`**Semantic diff to ${version}:**`, "```text", ...renderChanges(changes), "```"].join("\n");
}
