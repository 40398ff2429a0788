import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../../scripts/command/root.ts";
import { runShell } from "../../../helpers/process.ts";
import { makeTempDir } from "../../../helpers/temp-dir.ts";

export type ReleaseBefore = Awaited<ReturnType<typeof checkOutReleaseBefore>>;

const MIGRATIONS = "server/storage/database/migrations";

/**
 * The files of the release whose servers are still at work when this one migrates: the newest that is tagged before the
 * present commit. Without one, the commit before the last change of a migration stands for it, or the last commit as long as there
 * is only the first migration.
 *
 * @throws Error in a clone without that history, which says how to get it
 */
export async function checkOutReleaseBefore() {
  if (!existsSync(join(ROOT, ".git")) || git("rev-parse", "--is-shallow-repository") === "true") {
    throw new Error(
      "The release before this one is taken from the history, which this copy of the project lacks. Run it in a full clone, which `git fetch --unshallow --tags` makes of a shallow one; in CI check out with fetch-depth: 0.",
    );
  }
  const name = findTag() ?? commitBeforeMigration();
  await using made = new AsyncDisposableStack();
  const folder = await makeTempDir();
  made.defer(() => rm(folder, { recursive: true, force: true }));
  await runShell(`git archive '${name}' | tar -x -C '${folder}'`, ROOT);
  await installRuntime(folder);
  const kept = made.move();
  return {
    /** Its tag, or else a commit. */
    name,
    folder,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function findTag(): string | undefined {
  const tags = git("tag", "--list", "v*.*.*", "--merged", "HEAD^", "--sort=-version:refname");
  return tags.split("\n")[0] || undefined;
}

function commitBeforeMigration(): string {
  if (git("ls-files", `${MIGRATIONS}/0*`, `:!${MIGRATIONS}/0001-*`) === "") return "HEAD";
  return git("log", "-1", "--first-parent", "--format=%h", "--", MIGRATIONS).concat("^");
}

/** Uses the packages that are installed here if that release runs with the same ones. */
async function installRuntime(folder: string): Promise<void> {
  const [present, before] = await Promise.all([ROOT, folder].map(readRuntimePackages));
  if (present === before) await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  else await runShell("npm ci --no-audit --no-fund", folder);
}

/** What the lockfile says of the packages that a server needs. */
async function readRuntimePackages(folder: string): Promise<string> {
  const lockfile = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  const packages = Object.entries<{ dev?: true; integrity?: string }>(lockfile.packages);
  return JSON.stringify(
    packages
      .filter(([, { dev, integrity }]) => !dev && integrity)
      .map(([path, { integrity }]) => [path, integrity]),
  );
}

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
}
