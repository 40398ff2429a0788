import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "../diff/change.ts";
import { diffContracts } from "../diff/diff.ts";
import { compareVersions } from "../diff/version.ts";
import { type Pair, type Place, tableOf } from "./changes.ts";
import type { Json } from "./json.ts";

/** A version of the contract, with what it changed of the one before; the first changed nothing. */
export type Release = {
  readonly version: string;
  readonly before?: { readonly version: string; readonly changes: readonly Change[]; readonly pair: Pair };
};

/** Compares each release with the one before, and the contract as it is now with the last, when its version is a new one. */
export async function readReleases(released: string, current: string): Promise<Release[]> {
  const files = (await readdir(released)).filter((name) => name.endsWith(".yaml"));
  const contracts = await Promise.all(
    [...files.map((name) => join(released, name)), current].map(readVersion),
  );
  // A version that is released is what was released, whatever the working tree has meanwhile.
  const known = new Map(contracts.toReversed().map((contract) => [contract.version, contract]));
  const sorted = [...known.values()].sort((a, b) => compareVersions(a.version, b.version));
  return Promise.all(
    sorted.map(async ({ version, path, document: revision }, index) => {
      const previous = sorted[index - 1];
      if (!previous) return { version };
      const { changes } = await diffContracts(previous.path, path);
      return {
        version,
        before: { version: previous.version, changes, pair: { base: previous.document, revision } },
      };
    }),
  );
}

async function readVersion(path: string) {
  const document: Json = parse(await readFile(path, "utf8"));
  return { path, document, version: String((document.info as Json).version) };
}

/** Adds to each version of the changelog the semantic diff to the one before. */
export function fillChangelog(
  body: string,
  releases: readonly Release[],
  link: (place: Place) => string,
): string {
  const parts = body.split(/^(?=## )/m).map((part) => {
    const release = releases.find(({ version }) => part.startsWith(`## ${version}\n`));
    return release ? `${part.trim()}\n\n${describe(release, link)}\n\n` : part;
  });
  return parts.join("").trim();
}

function describe({ before }: Release, link: (place: Place) => string): string {
  if (!before) return "**Semantic diff:** it is the first release, so there is nothing to compare it with.";
  const { version, changes, pair } = before;
  if (changes.length === 0) return `**Semantic diff to ${version}:** no change of the contract.`;
  return `**Semantic diff to ${version}:**\n\n${tableOf(changes, pair, link)}`;
}
