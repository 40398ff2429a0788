const UNRELEASED = "## Unreleased";

/**
 * Gives what is unreleased in a changelog its version. What was written under that version before, as long as nothing had been
 * published, follows as its draft.
 *
 * @throws Error when the changelog says nothing new
 */
export function cutChangelog(changelog: string, version: string): string {
  const [, entry = ""] = changelog.split(`${UNRELEASED}\n`);
  const text = entry.split(/^## /m)[0]?.trim() ?? "";
  if (text === "") {
    throw new Error(`CHANGELOG.md says nothing under "${UNRELEASED}": say there what changed, and for whom.`);
  }
  const heading = `## ${version}`;
  return changelog
    .replace(`${heading}\n`, "### The first draft\n")
    .replace(`${UNRELEASED}\n`, `${heading}\n`);
}
