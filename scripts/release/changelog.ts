const UNRELEASED = "## Unreleased";

/**
 * Puts the unreleased part of a changelog under its version. Text that was already under that version, from before anything
 * was published, follows as its draft.
 *
 * @param date such as `2026-11-23`
 * @throws Error when the changelog says nothing new
 */
export function cutChangelog(changelog: string, version: string, date: string): string {
  const [, entry = ""] = changelog.split(`${UNRELEASED}\n`);
  const text = entry.split(/^## /m)[0]?.trim() ?? "";
  if (text === "") {
    throw new Error(`CHANGELOG.md says nothing under "${UNRELEASED}": say there what changed, and for whom.`);
  }
  const heading = `## ${version}`;
  return changelog
    .replace(`${heading}\n`, "### The first draft\n")
    .replace(`${UNRELEASED}\n`, `${heading}\n\nReleased on ${date}.\n`);
}
