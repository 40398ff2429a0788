import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineCommand } from "../command/command.ts";
import { replaceFile } from "../command/files.ts";
import { ROOT } from "../command/root.ts";
import { diffContracts, newestRelease } from "../diff/compare.ts";
import { packPackages } from "../packages/pack.ts";
import { run } from "../packages/run-program.ts";
import { PACKAGE_NAMES } from "../packages/sources.ts";
import { cutChangelog } from "./changelog.ts";
import { nextVersion } from "./version.ts";
import { writeVersion } from "./versions.ts";

const BUNDLE = "openapi/generated/openapi.yaml";

const { dryRun } = defineCommand(
  "release",
  "Makes a release here: version, changelog, released contract, commit, tag and packages. It publishes nothing.",
)
  .option("--dry-run", "only say which version it would be")
  .parse()
  .opts();

try {
  await release();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  if (!dryRun && (await git("status", "--porcelain")) !== "") {
    throw new Error("There are changes that are not committed. Commit or undo them first.");
  }
  const released = (await git("tag", "--list", "v*.*.*")).split("\n").flatMap((tag) => tag.slice(1) || []);
  const { verdict } = await diffContracts(await newestRelease(ROOT), join(ROOT, BUNDLE));
  const version = nextVersion(released, verdict);
  const today = new Date().toISOString().slice(0, 10);
  const changelog = cutChangelog(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"), version, today);
  process.stdout.write(`${version} follows ${released.length === 0 ? "nothing" : verdict.released}.\n`);
  if (dryRun) return;

  await writeVersion(ROOT, version);
  await replaceFile(join(ROOT, "CHANGELOG.md"), changelog);
  await run(process.execPath, ["scripts/generate/generate.ts"], ROOT);
  await replaceFile(join(ROOT, `openapi/released/${version}.yaml`), await readFile(join(ROOT, BUNDLE)));
  await git("add", "--all");
  await git("commit", "--quiet", "--message", `Release ${version}`);
  await git("tag", "--annotate", `v${version}`, "--message", `Release ${version}`);
  const tarballs = await packPackages(PACKAGE_NAMES, join(ROOT, "dist/packages"));
  for (const { file } of tarballs) process.stdout.write(`${file}\n`);
  process.stdout.write(`Push the tag v${version}, and the workflow "release" publishes these packages.\n`);
}

function git(...args: string[]): Promise<string> {
  return run("git", args, ROOT);
}
