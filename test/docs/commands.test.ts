import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/* What a command says to those who ask it, or ask wrongly. */

/** They take no options, or are other people's. */
const WITHOUT_OPTIONS = ["start", "start:production", "test", "generate", "generate:check", "docs", "lint"];
const OTHERS = ["typecheck", "format"];
/** It has commands of its own, each with options; see test/admin. */
const ADMIN = "admin";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
const left = [...WITHOUT_OPTIONS, ...OTHERS, ADMIN];
const commands = Object.entries(scripts).filter(([name]) => !left.includes(name));

type Outcome = { code: number; stdout: string; stderr: string };

async function run(program: string, ...args: string[]): Promise<Outcome> {
  const [node, ...script] = program.split(" ");
  expect(node).toBe("node");
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [...script, ...args])) };
  } catch (error) {
    return error as Outcome;
  }
}

test.each(commands)(
  "npm run %s tells how it is used, and which option it does not know",
  async (name, program) => {
    const [help, wrong] = await Promise.all([run(program, "--help"), run(program, "--no-such-option")]);

    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain(`npm run ${name} --`);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("--no-such-option");
    expect(wrong.stderr).toContain(`npm run ${name} --`);
  },
);
