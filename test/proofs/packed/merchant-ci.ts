/** Runs the guide's tests for a merchant's CI in real projects: Vitest, Jest, pytest and Go. */
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/shared/root.ts";
import { run } from "../../../scripts/shared/run-program.ts";
import { READER_ENV, runProgram } from "../../helpers/process.ts";
import { check } from "../check-runner.ts";

/** The examples of the guide: the command that runs the tests, and what it needs. */
const EXAMPLES: readonly Example[] = [
  { name: "vitest", tests: "npx vitest run", install: ["vitest@5.1.1"] },
  { name: "jest", tests: "npx jest", install: ["jest@29.7.0"] },
  { name: "pytest", tests: "python3 -m pytest", needs: "python3 -m pytest --version" },
  { name: "go", tests: "go test ./...", needs: "go version" },
];
const LIMIT_MS = 300_000;

type Example = {
  readonly name: string;
  readonly tests: string;
  readonly install?: readonly string[];
  readonly needs?: string;
};

/** Runs each example by the guide's one line; the packages are tarballs. */
export async function checkMerchantCi(
  folder: string,
  { client, sandbox }: { client: string; sandbox: string },
): Promise<void> {
  for (const { name, tests, install, needs } of EXAMPLES) {
    const isMissing = needs && (await runProgram(["sh", "-c", needs], { env: READER_ENV })).code !== 0;
    if (isMissing) {
      console.log(`- the guide's example for ${name}: not run, because this fails here: ${needs}`);
      continue;
    }
    const project = join(folder, name);
    await cp(join(ROOT, "docs/examples/ci", name), project, { recursive: true });
    const type = name === "jest" ? "commonjs" : "module";
    await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type }));
    const line = `npx --yes file:${sandbox} exec --bad-day lost-after,busy --require 201 -- ${tests}`;
    await check(`the guide's line for CI passes its example for ${name}`, async () => {
      if (install) await run("npm", ["install", "--prefer-offline", client, ...install], project);
      const command = ["sh", "-c", line];
      const { code, stdout, stderr } = await runProgram(command, {
        cwd: project,
        env: READER_ENV,
        limitMs: LIMIT_MS,
      });
      if (code !== 0) throw new Error(`it ended with ${code}:\n${stdout}${stderr}`);
    });
  }
}
