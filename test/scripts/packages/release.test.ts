import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../scripts/command/root.ts";
import type { Verdict } from "../../../scripts/diff/version.ts";
import { cutChangelog } from "../../../scripts/release/changelog.ts";
import { nextVersion } from "../../../scripts/release/version.ts";
import { writeVersion } from "../../../scripts/release/versions.ts";
import { folderOfTest } from "../../helpers/suite.ts";

describe("a release", () => {
  const verdict = (changes: Partial<Verdict>): Verdict => ({
    ...{ released: "1.0.0", version: "1.0.0", need: "none", required: "1.0.0" },
    ...changes,
  });

  test.each<[string, string[], Partial<Verdict>, string]>([
    ["the first is what the contract says", [], {}, "1.0.0"],
    ["a patch when the contract has not changed", ["1.0.0"], {}, "1.0.1"],
    ["after the newest, whatever their order", ["1.0.9", "1.0.10", "1.0.2"], {}, "1.0.11"],
    ["what the diff asks for", ["1.0.3"], { need: "minor", required: "1.1.0", version: "1.1.0" }, "1.1.0"],
    ["more when the contract says more", ["1.0.0"], { version: "1.2.0" }, "1.2.0"],
  ])("has a version: %s", (_, released, changes, version) => {
    expect(nextVersion(released, verdict(changes))).toBe(version);
  });

  test("is refused when the contract says less than the diff asks for", () => {
    expect(() => nextVersion(["1.0.0"], verdict({ error: "info.version 1.0.0 says less" }))).toThrow(
      "says less",
    );
  });

  test("gives what is unreleased its version and date, and keeps what was written before", () => {
    const changelog = "# Changelog\n\n## Unreleased\n\n- More.\n\n## 1.0.0\n\nThe first.\n";

    expect(cutChangelog(changelog, "1.1.0", "2027-01-15")).toBe(
      "# Changelog\n\n## 1.1.0\n\nReleased on 2027-01-15.\n\n- More.\n\n## 1.0.0\n\nThe first.\n",
    );
    expect(cutChangelog(changelog, "1.0.0", "2027-01-15")).toBe(
      "# Changelog\n\n## 1.0.0\n\nReleased on 2027-01-15.\n\n- More.\n\n### The first draft\n\nThe first.\n",
    );
    expect(() => cutChangelog("# Changelog\n\n## Unreleased\n\n## 1.0.0\n", "1.1.0", "2027-01-15")).toThrow(
      "says nothing",
    );
  });

  test("writes its version wherever one stands, also in each workspace", async () => {
    const folder = await folderOfTest();
    const { workspaces } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    const contracts = ["openapi.yaml", "sandbox/openapi.yaml", "admin/payment-lines.yaml"];
    const files = [
      ...contracts.map((name) => `openapi/${name}`),
      ...["", ...workspaces].map((name) => join(name, "package.json")),
      "package-lock.json",
    ];
    for (const file of files) await cp(join(ROOT, file), join(folder, file));

    await writeVersion(folder, "7.8.9");

    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    const counts = texts.map((text) => text.match(/version"?: "?7\.8\.9/g)?.length);
    // The lockfile has one of its own, and those of the project and its workspaces.
    expect(counts).toEqual(files.map((file) => (file === "package-lock.json" ? workspaces.length + 2 : 1)));
  });
});
