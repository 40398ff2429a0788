import { compareVersions, type Verdict } from "../diff/version.ts";

/**
 * The version of the next release. The first is the version in the contract; later ones are the version that the semantic diff
 * requires, or a patch when the contract has not changed.
 *
 * @param released the versions that have been released, in any order
 * @throws Error when the version in the contract is lower than the diff requires
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
