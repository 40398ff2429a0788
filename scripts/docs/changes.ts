import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Change } from "../../openapi/diff/change.ts";
import { members, type Node } from "../../openapi/document/node.ts";
import { stepsOf, valueAt } from "../../openapi/document/pointer.ts";
import { diffContracts } from "../diff/compare.ts";
import { compareVersions } from "../diff/version.ts";
import { type Parts, partsOf, splitSections } from "./markdown.ts";

/** What happened to the part that a change is about. */
type Kind = "added" | "changed" | "removed";

/** The two contracts that are compared. */
type Pair = { readonly base: Node; readonly revision: Node };

function kindOf({ pointer }: Change, { base, revision }: Pair): Kind {
  const [before, after] = [base, revision].map((document) => valueAt(document, pointer) !== undefined);
  if (before === after) return "changed";
  return after ? "added" : "removed";
}

/** The first operation that a change affects and that the revision still has. */
function operationOf({ uses, pointer }: Change, { revision }: Pair): string | undefined {
  const [, address] = stepsOf(pointer);
  for (const [path, item] of [...members(revision.paths), ...members(revision.webhooks)]) {
    for (const [method, { operationId }] of members(item)) {
      const names = [`${method.toUpperCase()} ${path}`, `event ${path}`];
      if (path !== address && !uses.some((use) => names.some((name) => use.includes(name)))) continue;
      return String(operationId);
    }
  }
  return undefined;
}

/** The changes as a table in Markdown, the most severe first. */
function tableOf(changes: readonly Change[], pair: Pair): string {
  const rows = changes.map((change) => {
    const operation = operationOf(change, pair);
    const name = operation ? `[${change.location}](operation:${operation})` : `\`${change.location}\``;
    const cells = [
      `**${change.level}**`,
      kindOf(change, pair),
      name,
      change.what.join("; "),
      change.uses.join(", "),
    ];
    return `| ${cells.map(toCell).join(" | ")} |`;
  });
  const head = ["severity", "", "location in the reference", "what", "has an effect on"];
  return [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows].join("\n");
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** A version of the contract, with its changes since the previous one; the first has none. */
export type Release = {
  readonly version: string;
  readonly before?: { readonly version: string; readonly changes: readonly Change[]; readonly pair: Pair };
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
  const document: Node = parse(await readFile(path, "utf8"));
  return { path, document, version: String((document.info as Node).version) };
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
  const { version, changes, pair } = before;
  if (changes.length === 0) return `**Semantic diff to ${version}:** no change of the contract.`;
  return `**Semantic diff to ${version}:**\n\n${tableOf(changes, pair)}`;
}
