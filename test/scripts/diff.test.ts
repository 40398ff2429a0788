import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findChanges } from "../../openapi/diff/diff.ts";
import type { Change, Level } from "../../openapi/diff/severity.ts";
import { readContract } from "../../openapi/document/read-contract.ts";
import { checkVersion, findChangelogError } from "../../scripts/diff/check-version.ts";
import { runProgram } from "../helpers/process.ts";
import { folderOfTest } from "../helpers/suite.ts";
import { CHANGES, contractWith } from "./diff-changes.ts";

describe("a change of the contract", () => {
  test.each(CHANGES)("that is %s in %s: %s", (level, location, _name, change, before = {}) => {
    const changes = findChanges(contractWith(before), contractWith(before, change));

    expect(changes[0]?.level).toBe(level);
    expect(changes.filter((one) => one.level === level).map((one) => one.location)).toContain(location);
  });
});

describe("the version of the contract", () => {
  const change = (level: Level): Change => {
    return { location: "", pointer: "", what: [], uses: [], level, effect: "none", isAssumed: false };
  };

  test.each<[levels: Level[], version: string, required: string, error: RegExp | undefined]>([
    [[], "1.2.3", "1.2.3", undefined],
    [["patch"], "1.3.0", "1.2.4", undefined],
    [["patch", "minor"], "1.3.0", "1.3.0", undefined],
    [["patch", "minor", "major"], "2.0.0", "2.0.0", undefined],
    [
      ["patch"],
      "1.2.3",
      "1.2.4",
      /^info\.version 1\.2\.3 promises less than the changes since 1\.2\.3 require\. Set info\.version to 1\.2\.4 /,
    ],
    [["minor"], "1.2.9", "1.3.0", /Set info\.version to 1\.3\.0 in openapi\/openapi\.yaml/],
    [["major"], "1.9.0", "2.0.0", /\/v1 only takes compatible changes.+Set info\.version to 2\.0\.0/],
    [[], "1.2.2", "1.2.3", /^info\.version 1\.2\.2 is older than the release/],
  ])("with %j since 1.2.3 may be %s or not", (levels, version, required, error) => {
    const verdict = checkVersion(levels.map(change), "1.2.3", version);

    expect(verdict.required).toBe(required);
    if (error) expect(verdict.error).toMatch(error);
    else expect(verdict.error).toBeUndefined();
  });

  test("has an entry in the changelog", () => {
    const changelog = "# Changelog\n\n## 1.1.0\n\nMore.\n\n## 1.0.0\n";

    expect(findChangelogError(changelog, "1.1.0")).toBeUndefined();
    expect(findChangelogError(changelog, "1.0")).toMatch(
      /^openapi\/CHANGELOG\.md has no entry for 1\.0: add "## 1\.0"/,
    );
  });
});

test("npm run diff fails for a breaking change in a version that says less, and names location, need and remedy", async () => {
  const { version } = readContract("openapi").document.info as { version: string };
  const needed = `${Number.parseInt(version, 10) + 1}.0.0`;
  const before = {
    "/paths/~1v1~1webhook~1subscribe/post/description": "Other words.",
    "RefundRequest/properties/requestKey/maxLength": 300,
  };
  const file = join(await folderOfTest(), "before.json");
  await writeFile(file, JSON.stringify(contractWith(before)));

  const { code, stdout, stderr } = await runProgram([
    process.execPath,
    ...["scripts/diff/diff.ts", "--from", file],
  ]);

  expect(code).toBe(1);
  expect(stdout).toMatch(/^major +RefundRequest\.requestKey: .*maxLength changed from 300 to 255\n/);
  expect(stdout).toContain("in request of POST /v1/refunds");
  expect(stdout).toContain("at /components/schemas/RefundRequest/properties/requestKey/maxLength");
  expect(stdout).toMatch(/^patch +POST \/v1\/webhook\/subscribe: /m);
  expect(stdout).toContain(`Since ${version}: 1 major, 0 minor, 1 patch. That needs ${needed}.`);
  expect(stderr).toContain(`Set info.version to ${needed} in openapi/openapi.yaml`);
});

test("the comparison of documents reads files of a revision, prints each format, and says by its exit code how it ended", async () => {
  const folder = await folderOfTest();
  const save = async (id: string, maxLength: number, ...others: object[]) => {
    const schema = { $ref: "parts.json#/Id" };
    const parameters = [{ name: id, in: "path", required: true, schema }, ...others];
    const paths = { [`/pets/{${id}}`]: { get: { parameters, responses: { 204: { description: "gone" } } } } };
    const description = others.length > 0 ? undefined : "All of them";
    const document = { openapi: "3.0.3", info: { title: "Pets", version: "1.0.0", description }, paths };
    await writeFile(join(folder, "pets.json"), JSON.stringify(document));
    await writeFile(join(folder, "parts.json"), JSON.stringify({ Id: { type: "string", maxLength } }));
  };
  await save("id", 3, { name: "limit", in: "query", schema: { type: "integer" } });
  const commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "before"];
  for (const args of [["init", "-q"], ["add", "."], commit]) execFileSync("git", args, { cwd: folder });
  await save("petId", 2);
  const compare = (...args: string[]) => runProgram([process.execPath, "openapi/diff/cli.ts", ...args]);
  const file = join(folder, "pets.json");
  const from = (...args: string[]) => compare("--from", "git:HEAD", file, ...args);

  const text = await from();
  expect(text.stdout).toBe(`major  GET /pets/{id}: query parameter limit: removed
       tightened for callers who write it (request)
       in query limit of GET /pets/{petId}
       at /paths/~1pets~1{id}/get/parameters/1
major  parts.json Id: maxLength changed from 3 to 2
       tightened for callers who write it (request)
       in path petId of GET /pets/{petId}
       was accepted, and isn't now: "aaa"
       at parts.json#/Id/maxLength
minor  /pets/{petId}: path renamed from /pets/{id}
       at /paths/~1pets~1{petId}
patch  info.description: description added
       at /info/description
2 major, 1 minor, 1 patch
`);
  expect(text.code).toBe(1);
  for (const [format = "", printed] of [
    ["junit", '<testcase classname="major" name="parts.json Id: maxLength'],
    ["markdown", "| major | parts.json Id | maxLength changed"],
    ["json", '"level": "major"'],
  ])
    expect((await from("--format", format)).stdout).toContain(printed);
  expect((await from("--fail-on", "never")).code).toBe(0);
  expect((await compare(file)).code).toBe(2);
  await writeFile(join(folder, "parts.json"), JSON.stringify({ Id: { enum: "a" } }));
  expect((await from()).stderr).toContain("parts.json#/Id has to have enum of type array");
});
