import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { PROOFS } from "../../scripts/command/proofs.ts";
import { type Exit, PROCESS_ENV, runProgram } from "../helpers/process.ts";
import { blocksOf } from "./blocks.ts";

const OTHER_TOOLS = ["test:unit", "typecheck", "format"];
/** The names in the usage of commands that are not called by their own names. */
const USAGE_NAMES: Readonly<Record<string, string>> = {
  start: "npm start --",
};

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const usageOf = (name: string) => USAGE_NAMES[name] ?? `npm run ${name} --`;
const commands = Object.entries(scripts)
  .filter(([name]) => !OTHER_TOOLS.includes(name))
  .map(([name, program]) => [usageOf(name), program] as const);
const proofs = Object.entries(PROOFS).map(
  ([name, { file }]) => [`npm run proof -- ${name}`, `node ${file}`] as const,
);

const outputs = new Map<string, Promise<Exit>>();

/** Runs a program as npm does, with the Node of this process; each command line once. */
function run(program: string, ...args: string[]): Promise<Exit> {
  const line = [program, ...args].join(" ");
  const env = { PATH: `${dirname(process.execPath)}:${PROCESS_ENV.PATH}` };
  const output = outputs.get(line) ?? runProgram(["sh", "-c", `${program} "$@"`, "npm", ...args], { env });
  outputs.set(line, output);
  return output;
}

test.each([...commands, ...proofs])(
  "%s prints its usage for an unknown option, which it names",
  async (name, program) => {
    const { code, stdout, stderr } = await run(program, "--no-such-option");

    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("--no-such-option");
    expect(stderr).toContain(`Usage: ${name} `);
  },
);

test("README.md lists every command once, in a line, and every proof; there are at most 16 commands", () => {
  const readme = readFileSync("README.md", "utf8");
  const listed = Array.from(readme.matchAll(/^\| `npm (?:run )?([\w:]+)/gm), ([, name]) => name);

  expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted());
  expect(listed.length).toBeLessThanOrEqual(16);
  expect(Object.keys(PROOFS).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

describe("CONTRIBUTING.md", () => {
  const text = readFileSync("CONTRIBUTING.md", "utf8");
  const lines = blocksOf(text).flatMap((block) => block.text.trim().split("\n"));
  const projects = [...readFileSync("vitest.config.ts", "utf8").matchAll(/toProject\(\s*"(\w+)"/g)].map(
    ([, name]) => name,
  );

  test.each([...new Set(lines.filter((line) => line.startsWith("npm ")))])(
    "names a command: %s",
    async (line) => {
      const [, name = "", , rest = ""] = /^npm (?:run )?([\w:]+)( -- (.+))?$/.exec(line) ?? [];
      if (name === "ci") return expect(line).toBe("npm ci");
      expect(scripts).toHaveProperty([name]);
      const options = rest.match(/--[\w-]+/g) ?? [];
      if (options.length === 0 || OTHER_TOOLS.includes(name)) return;
      // The rare commands are subcommands, each with options of its own.
      const [proof] = proofs.find(([usage]) => usage.endsWith(` ${rest.split(" ")[0]}`))?.slice(1) ?? [];
      const { stderr } = await run((name === "proof" ? proof : scripts[name]) ?? "", "--no-such-option");
      for (const option of options) expect(stderr).toContain(option);
    },
  );

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
