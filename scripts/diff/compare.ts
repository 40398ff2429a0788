import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { headingsOf } from "../../openapi/document/headings.ts";
import type { Node } from "../../openapi/document/node.ts";
import { withTempDir } from "../command/files.ts";
import { runRedocly } from "../command/redocly.ts";
import { type Change, type Finding, LEVELS, type Level, toChanges } from "./change.ts";
import { compareContracts, findLeftovers } from "./contracts.ts";
import { checkVersion, compareVersions, type Verdict } from "./version.ts";

export type Diff = { readonly changes: readonly Change[]; readonly verdict: Verdict };

const RELEASED = "openapi/released";

/** Compares two contracts, each the path of a bundle, by `redocly diff` and by our own check. */
export async function diffContracts(from: string, to: string): Promise<Diff> {
  const [base, revision] = await Promise.all(
    [from, to].map(async (path) => parse(await readFile(path, "utf8"))),
  );
  const redocly = await runRedoclyDiff(from, to);
  const changes = toChanges({ "redocly diff": redocly, "our own check": findChanges(base, revision) });
  return { changes, verdict: checkVersion(changes, base.info.version, revision.info.version) };
}

/** The findings of our own check: changes that affect callers and receivers, and all other differences. */
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
    throw new Error(`${RELEASED} has no release: copy the bundle there, named 1.0.0.yaml.`);
  return join(root, RELEASED, `${newest}.yaml`);
}

/** Reports a version whose changes the changelog does not describe. */
export function findChangelogError(changelog: string, version: string): string | undefined {
  const headings = headingsOf(changelog);
  if (headings.some(({ level, text }) => level === 2 && text === version)) return undefined;
  return `CHANGELOG.md has no entry for ${version}: add "## ${version}", and below it what changed and for whom.`;
}

/** The changes, one on each line, the most severe first, and the version that they require. */
export function renderReport(changes: readonly Change[], verdict: Verdict): string {
  return [
    ...changes.map(renderChange),
    ...(changes.length > 0 ? [""] : []),
    renderVerdict(changes, verdict),
  ].join("\n");
}

function renderChange({ level, location, pointer, what, uses, ratings }: Change): string {
  const found = Object.entries(ratings).map(([by, rating]) => (rating === level ? by : `${by} (${rating})`));
  const [first, ...others] = uses;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [
    `${level.padEnd(6)} ${location}: ${what.join("; ")}`,
    ...(first === undefined ? [] : [`       in ${first}${more}`]),
    `       found by ${found.join(" and ")}; ${pointer}`,
  ].join("\n");
}

function renderVerdict(changes: readonly Change[], { released, version, need, required }: Verdict): string {
  if (need === "none") return `No change since ${released}. info.version says ${version}.`;
  const counts = LEVELS.toReversed().map(
    (level) => `${changes.filter((one) => one.level === level).length} ${level}`,
  );
  return `Since ${released}: ${counts.join(", ")}. That needs ${required}. info.version says ${version}.`;
}

type Location = { readonly pointer: string; readonly value?: unknown };
type Report = {
  readonly changes: readonly {
    readonly path: string;
    readonly kind: "added" | "removed" | "modified";
    readonly impact: Level;
    readonly property?: string;
    readonly verdicts: readonly { readonly message: string }[];
    readonly base?: Location;
    readonly revision?: Location;
  }[];
};

/** The findings of `redocly diff` for two files. Fails when it can't read one of them. */
export async function runRedoclyDiff(from: string, to: string): Promise<Finding[]> {
  const report = await withTempDir(async (folder): Promise<Report> => {
    const [config, output] = [join(folder, "redocly.yaml"), join(folder, "diff.json")];
    // With a configuration that has no rules for changes, such as the project's own, it rates none of them major.
    await writeFile(config, "extends: [diff-recommended]\n");
    await runRedocly([
      "diff",
      from,
      to,
      "--config",
      config,
      "--format",
      "json",
      "--fail-on",
      "none",
      "--output",
      output,
    ]);
    return JSON.parse(await readFile(output, "utf8"));
  });
  return report.changes
    .filter(({ path, property }) => !(path === "#/info" && property === "version")) // the version, with which the changes are compared
    .map(({ path, kind, impact, property, verdicts, base, revision }) => {
      // A removed part no longer exists, so the pointer is that of the old document.
      const location =
        property !== undefined && revision?.value === undefined ? (base ?? revision) : (revision ?? base);
      const said = verdicts.map(({ message }) => message.replace(/\.$/, "")).join("; ");
      const what = said || [property, kind].filter((word) => word !== undefined).join(" ");
      return { pointer: (location?.pointer ?? path).replace(/^#/, ""), use: "", what, level: impact };
    });
}
