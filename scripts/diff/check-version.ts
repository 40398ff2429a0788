/** Compares the contract with its last release: is info.version raised enough, and does the changelog have an entry? */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { findChanges } from "../../openapi/diff/diff.ts";
import { readDocument } from "../../openapi/diff/read-document.ts";
import { countLevels, FORMATS } from "../../openapi/diff/report.ts";
import { type Change, LEVELS, type Level } from "../../openapi/diff/severity.ts";
import { headingsOf } from "../../openapi/document/markdown-headings.ts";

const RELEASED = "openapi/released";
/** The changelog of the contract; the software has its own. */
export const CHANGELOG = "openapi/CHANGELOG.md";

/** Compares two contracts, each the path of a bundle. */
export async function diffContracts(from: string, to: string) {
  const [base, revision] = [readDocument(from), readDocument(to)];
  const changes = findChanges(base, revision);
  return { changes, verdict: checkVersion(changes, versionOf(base), versionOf(revision)) };
}

const versionOf = (document: unknown) => (document as { info: { version: string } }).info.version;

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
export function toReport(
  changes: readonly Change[],
  { released, version, need, required }: ReturnType<typeof checkVersion>,
): string {
  if (need === "none") return `No change since ${released}. info.version says ${version}.`;
  const last = `Since ${released}: ${countLevels(changes)}. That needs ${required}. info.version says ${version}.`;
  return `${FORMATS.text(changes)}\n\n${last}`;
}

/** Compares `info.version` with the lowest version that changes since a release allow (D28); `error` names the remedy. */
export function checkVersion(changes: readonly Change[], released: string, version: string) {
  const need = LEVELS.findLast((level) => changes.some((one) => one.level === level)) ?? "none";
  const required = need === "none" ? released : raise(released, need);
  const verdict = { released, version, need, required, error: undefined };
  if (compareVersions(version, required) >= 0) return verdict;
  const older = compareVersions(version, released) < 0;
  const said = older
    ? "is older than the release"
    : `promises less than the changes since ${released} require`;
  const frozen =
    need === "major"
      ? " /v1 only takes compatible changes, so make them compatible, or publish a new path."
      : "";
  const remedy = `Set info.version to ${required} in openapi/openapi.yaml, and say in openapi/CHANGELOG.md what changed.`;
  return { ...verdict, error: `info.version ${version} ${said}.${frozen} ${remedy}` };
}

function raise(version: string, level: Level): string {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`"${version}" is no version: write one like 1.2.3.`);
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (level === "major") return `${major + 1}.0.0`;
  return level === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Below 0 when the first is older. */
const compareVersions = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });
