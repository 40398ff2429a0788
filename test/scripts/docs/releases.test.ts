import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fillChangelog, readReleases } from "../../../scripts/docs/changes.ts";
import { partsOf, toMarkdown } from "../../../scripts/docs/markdown.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const first = await readFile(new URL("../../../openapi/released/1.0.0.yaml", import.meta.url), "utf8");
const second = first.replace("version: 1.0.0", "version: 1.1.0").replace("maxLength: 80", "maxLength: 90");

const CHANGELOG = "Words.\n\n## 1.1.1\n\nThe same.\n\n## 1.1.0\n\nMore room.\n\n## 1.0.0\n\nThe first.";

describe("the changelog on the site", () => {
  test("has the semantic diff of each version to the one before", async () => {
    const folder = await folderOfTest();
    await writeFile(join(folder, "1.0.0.yaml"), first);
    await writeFile(join(folder, "1.1.0.yaml"), second);
    await writeFile(join(folder, "1.1.1.yaml"), second.replace("1.1.0", "1.1.1"));

    const releases = await readReleases(folder, join(folder, "1.1.1.yaml"));
    const filled = toMarkdown(fillChangelog(partsOf(CHANGELOG), releases));

    expect(filled).toMatch(
      /^Words\.\n\n## 1\.1\.1\n\nThe same\.\n\n\*\*Semantic diff to 1\.1\.0:\*\* no change/,
    );
    expect(filled).toMatch(
      /More room\.\n\n\*\*Semantic diff to 1\.0\.0:\*\*\n\n```text\nminor {2}RefundRequest\.softDescriptor: .* 80 to 90/,
    );
    expect(filled).toContain("The first.\n\n**Semantic diff:** it is the first release");
  });
});
