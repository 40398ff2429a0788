import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/root.ts";
import { run } from "../../../scripts/packages/run-program.ts";

/** A copy of this project's last commit, in which releases can be made. */
export async function copyProject(parent: string) {
  const folder = join(parent, "copy");
  await run("git", ["clone", "--quiet", "--no-tags", ROOT, folder], parent);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [name, value] of [
    ["user.name", "A maintainer"],
    ["user.email", "maintainer@example.com"],
  ])
    await run("git", ["config", name ?? "", value ?? ""], folder);
  return {
    folder,
    /** Makes a release as `npm run release` does, and returns the tarballs. */
    async release(): Promise<string[]> {
      await run(process.execPath, ["scripts/packages/release.ts"], folder);
      const packages = join(folder, "dist/packages");
      const version = JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;
      const names = (await readdir(packages)).filter((name) => name.endsWith(`-${version}.tgz`));
      return names.map((name) => join(packages, name));
    },
    /** Adds the next version to the changelog, and commits it. */
    async change() {
      const file = join(folder, "CHANGELOG.md");
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace("\n## ", "\n## 1.0.1\n\nA correction.\n\n## "));
      await run("git", ["commit", "--quiet", "--all", "--message", "Correct something"], folder);
    },
  };
}
