/** The commands that README.md and CONTRIBUTING.md name exist, and each command is named there. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROOFS } from "../../scripts/shared/proofs.ts";
import { blocksOf } from "../guides/code-blocks.ts";
import { runProgram } from "../helpers/process.ts";
import { testProjects } from "../helpers/test-projects.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
/** The files of the proofs. */
const files: Record<string, string> = Object.fromEntries(
  Object.entries(PROOFS).map(([name, { file }]) => [name, file]),
);

test("README.md lists every command once, in a line, and every proof, whose file exists; there are at most 16 commands", () => {
  const readme = readFileSync("README.md", "utf8");
  const listed = Array.from(readme.matchAll(/^\| `npm (?:run )?([\w:]+)/gm), ([, name]) => name);

  expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted());
  expect(listed.length).toBeLessThanOrEqual(16);
  expect(Object.values(files).filter((file) => !existsSync(file))).toEqual([]);
  expect(Object.keys(files).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

test("no page and no message fetches a package of ours by its name, which nobody owns in the registry yet", () => {
  const tracked = execFileSync("git", ["ls-files", "*.md", "*.ts", "*.tsx", "*.yml", "*.json"], {
    encoding: "utf8",
  });
  const unsafe = /(npx|npm (i|install|exec))( -(?!-no-install )\S+)* (@refund-contract|openapi-law)/;
  const found = tracked
    .trim()
    .split("\n")
    .filter((file) => unsafe.test(readFileSync(file, "utf8")));

  expect(found).toEqual([]);
});

describe("CONTRIBUTING.md", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const blocks = blocksOf("CONTRIBUTING.md").filter(({ marks }) => !marks.has("no-run"));
  const lines = blocks.flatMap((block) => block.text.trim().split("\n"));
  const projects = testProjects.map(({ name }) => name);

  const commands = lines.filter((line) => line.startsWith("npm "));
  test.each([...new Set(commands)])("names a command: %s", async (line) => {
    const [, name = "", , rest = ""] = /^npm (?:run )?([\w:]+)( -- (.+))?$/.exec(line) ?? [];
    if (name === "ci") return expect(line).toBe("npm ci");
    expect(scripts).toHaveProperty([name]);
    const [proof = ""] = rest.split(" ");
    if (name === "proof") expect(files).toHaveProperty([proof]);
    const [, program] = /^node (\S+)$/.exec(scripts[name] ?? "") ?? [];
    const file = name === "proof" ? files[proof] : program;
    if (file === undefined) return; // a tool of others, whose options are not in a file of ours
    const options = rest.match(/--[\w-]+/g);
    if (options === null) return;
    const { stdout } = await runProgram([process.execPath, file, "--help"]);
    for (const option of options) expect(stdout).toContain(`  ${option} `);
  });

  test.each([...new Set(lines.filter((line) => !line.startsWith("npm ")))])("runs tests: %s", (line) => {
    expect(line).toMatch(/^npx vitest run (--project \w+( |$))+$|^npx vitest run test\/\S+( -t ".+")?$/);
    for (const [, project] of line.matchAll(/--project (\w+)/g)) expect(projects).toContain(project);
    const [, file, title] = /(test\/\S+)(?: -t "(.+)")?/.exec(line) ?? [];
    if (file !== undefined) expect(readFileSync(file, "utf8")).toContain(title ?? "");
  });

  test("names files and folders that exist", () => {
    const paths = [...text.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map(([, path = ""]) => path);

    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });
});
