import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/command/root.ts";
import { nextVersion, writeVersion } from "../../../scripts/packages/release.ts";
import { folderOfTest } from "../../helpers/suite.ts";

describe("a release", () => {
  const changelog = "# Changelog\n\n## 1.0.10\n\n- More.\n\n## 1.0.9\n";

  test("has the first version of the changelog", () => {
    expect(nextVersion(changelog, [])).toBe("1.0.10");
    expect(nextVersion(changelog, ["1.0.9", "1.0.2"])).toBe("1.0.10");
  });

  test("is refused when the changelog begins with a version that was released", () => {
    expect(() => nextVersion(changelog, ["1.0.9", "1.0.10"])).toThrow(
      'no version after 1.0.10: begin it with a heading such as "## 1.0.11"',
    );
  });

  test("writes its version into the lockfile and into every package", async () => {
    const folder = await folderOfTest();
    const { workspaces } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    const files = [...["", ...workspaces].map((name) => join(name, "package.json")), "package-lock.json"];
    for (const file of files) await cp(join(ROOT, file), join(folder, file));

    await writeVersion(folder, "7.8.9");

    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const counts = texts.map((text) => text.match(/version": "7\.8\.9/g)?.length);
    // The lockfile has one of its own, and those of the project and its workspaces.
    expect(counts).toEqual(files.map((file) => (file === "package-lock.json" ? workspaces.length + 2 : 1)));
  });
});
