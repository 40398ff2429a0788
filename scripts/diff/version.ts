import { type Change, LEVELS, type Level } from "../../openapi/diff/law.ts";

/** The version that a set of changes requires, and the one that the contract has. */
export type Verdict = {
  readonly released: string;
  readonly version: string;
  readonly need: Level | "none";
  /** The lowest version that these changes allow. */
  readonly required: string;
  /** Why the contract's version is too low, with the remedy; empty when it is high enough. */
  readonly error?: string;
};

/** Compares `info.version` with the changes since a release (D28). */
export function checkVersion(changes: readonly Change[], released: string, version: string): Verdict {
  const need = LEVELS.findLast((level) => changes.some((one) => one.level === level)) ?? "none";
  const required = need === "none" ? released : raise(released, need);
  const verdict: Verdict = { released, version, need, required };
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
  const [major = 0, minor = 0, patch = 0] = parseVersion(version);
  if (level === "major") return `${major + 1}.0.0`;
  return level === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Below 0 when the first is older. Throws for anything that is not a version. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return a.map((part, at) => part - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

function parseVersion(version: string): number[] {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`"${version}" is no version: write one like 1.2.3.`);
  return version.split(".").map(Number);
}
