import { compareVersions, type Verdict } from "../diff/version.ts";

/**
 * The version of the next release. The first one is what the contract says; later ones are what the semantic diff asks for, and a
 * patch when the contract has not changed.
 *
 * @param released the versions that have been released, in any order
 * @throws Error when the contract itself says less than the diff asks for
 */
export function nextVersion(
  released: readonly string[],
  { version, need, required, error }: Verdict,
): string {
  if (error !== undefined) throw new Error(error);
  const newest = released.toSorted(compareVersions).at(-1);
  if (newest === undefined) return version;
  const [major, minor, patch] = newest.split(".").map(Number);
  const least = need === "none" ? `${major}.${minor}.${Number(patch) + 1}` : required;
  return compareVersions(version, least) > 0 ? version : least;
}
