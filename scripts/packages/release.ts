import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCommand } from "../command/command.ts";
import { replaceFile } from "../command/files.ts";
import { ROOT } from "../command/root.ts";
import { compareVersions, diffContracts, newestRelease } from "../diff/compare.ts";
import { packPackages } from "./pack.ts";
import { run } from "./run-program.ts";
import { PACKAGE_NAMES } from "./sources.ts";

const BUNDLE = join(ROOT, "openapi/generated/openapi.yaml");
/** It repeats the versions of the project and its workspaces. */
const LOCK = "package-lock.json";

/**
 * The version of the next release: the first one in the changelog.
 * @param released the versions that have been released, in any order
 * @throws Error when that version has been released already, or an earlier one comes first
 */
export function nextVersion(changelog: string, released: readonly string[]): string {
  const [, version] = /^## (\d+\.\d+\.\d+)$/m.exec(changelog) ?? [];
  const newest = released.toSorted(compareVersions).at(-1) ?? "0.0.0";
  if (version !== undefined && compareVersions(version, newest) > 0) return version;
  throw new Error(
    `CHANGELOG.md has no version after ${newest}: begin it with a heading such as "## ${newest.replace(/\d+$/, (patch) => `${Number(patch) + 1}`)}", and say below it what changed, and for whom.`,
  );
}

/** Writes the version into every package of the project at `root`, and into its lockfile. */
export async function writeVersion(root: string, version: string): Promise<void> {
  const { workspaces } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const packages = ["", ...workspaces];
  for (const name of packages) {
    const path = join(root, name, "package.json");
    const text = await readFile(path, "utf8");
    await replaceFile(path, text.replace(/^( {2}"version": )"[^"]+"/m, `$1"${version}"`));
  }
  const lock = JSON.parse(await readFile(join(root, LOCK), "utf8"));
  for (const part of [lock, ...packages.map((name) => lock.packages[name])]) part.version = version;
  await replaceFile(join(root, LOCK), `${JSON.stringify(lock, null, 2)}\n`);
}

async function release(): Promise<void> {
  if ((await git("status", "--porcelain")) !== "")
    throw new Error("There are changes that are not committed. Commit or undo them first.");
  const { verdict } = await diffContracts(await newestRelease(ROOT), BUNDLE);
  if (verdict.error !== undefined) throw new Error(verdict.error);
  const tags = (await git("tag", "--list", "v*.*.*")).split("\n");
  const released = tags.flatMap((tag) => tag.slice(1) || []);
  const version = nextVersion(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"), released);
  process.stdout.write(`Release ${version}, with version ${verdict.version} of the contract.\n`);

  await writeVersion(ROOT, version);
  await replaceFile(join(ROOT, `openapi/released/${verdict.version}.yaml`), await readFile(BUNDLE));
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "--message", `Release ${version}`);
  await git("tag", "--annotate", `v${version}`, "--message", `Release ${version}`);
  const tarballs = await packPackages(PACKAGE_NAMES, join(ROOT, "dist/packages"));
  for (const { file } of tarballs) process.stdout.write(`${file}\n`);
  process.stdout.write(`Push the tag v${version}, and the workflow "release" publishes these packages.\n`);
}

function git(...args: string[]): Promise<string> {
  return run("git", args, ROOT);
}

if (import.meta.main) {
  defineCommand(
    "release",
    "Makes a release here: versions, released contract, commit, tag and packages. It publishes nothing.",
  ).parse();
  try {
    await release();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
