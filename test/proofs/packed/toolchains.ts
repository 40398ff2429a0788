/** Compiles and bundles a program that uses the client, with each tool that merchants use. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../scripts/shared/run-program.ts";
import { installTools } from "../../helpers/process.ts";
import { PROGRAM } from "./client-program.ts";

/** A merchant's tool that uses the package in a project. The function rejects when the tool fails. */
export type Toolchain = { readonly name: string; use(folder: string): Promise<void> };

/** The oldest supported version and the newest. */
const COMPILERS = ["5.4.5", "7.0.2"];
const RESOLUTIONS = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

/** As strict as can be; the declarations of the package and of its dependencies are checked as well. */
const STRICT = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  ...{ noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true, skipLibCheck: false },
  ...{ noEmit: true, target: "es2022", lib: ["es2022", "dom", "dom.iterable"], types: [] },
};

/** Ways of a package whose modules are CommonJS; TypeScript 7 knows the last one no more. */
const IN_COMMON_JS = [...RESOLUTIONS.slice(0, 2), { module: "commonjs", moduleResolution: "node10" }];

/** Each compiler with each way to find a package's types. */
const compilers = COMPILERS.map((version) => ({
  name: `TypeScript ${version}`,
  async use(folder: string) {
    const tools = await installTools(`toolchains/typescript-${version}`, [`typescript@${version}`]);
    const check = async (project: string, options: object) => {
      const file = join(project, "tsconfig.json");
      await writeFile(
        file,
        JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: ["program.ts"] }),
      );
      await run(process.execPath, [join(tools, "typescript/bin/tsc"), "--project", file], folder);
    };
    for (const resolution of RESOLUTIONS) await check(folder, resolution);
    const known = IN_COMMON_JS.filter(({ module }) => module !== "commonjs" || !version.startsWith("7"));
    const commonJs = await openCommonJs(folder);
    for (const resolution of known) await check(commonJs, { ...resolution, verbatimModuleSyntax: false });
  },
}));

/** A package of CommonJS inside the project, with the same program. */
async function openCommonJs(folder: string): Promise<string> {
  const project = join(folder, "commonjs");
  await mkdir(project, { recursive: true });
  await writeFile(join(project, "package.json"), '{ "name": "older", "version": "1.0.0" }');
  await writeFile(join(project, "program.ts"), PROGRAM);
  return project;
}

/** Compiled to CommonJS by ts-jest. The guide's example for CI is of plain Jest. */
const JEST_TEST = `import { createClient, ProblemError } from "@refund-contract/client";
import { signWebhook, verifyWebhook } from "@refund-contract/client/webhooks";
import { SandboxCallError, startSandbox } from "@refund-contract/sandbox";
declare const test: (name: string, run: () => Promise<void>, limitMs: number) => void;
declare const expect: any;

test("calls the sandbox", async () => {
  const sandbox = await startSandbox();
  const client = createClient({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });
  const request = { paymentId: "pay_settled", amount: "1.00", requestKey: "from-jest" };
  expect((await client.refunds.issue(request)).paymentStatus).toBe("AUTHORIZED");
  await expect(client.refunds.issue(request)).rejects.toBeInstanceOf(ProblemError);
  await expect(sandbox.payments.get("pay_none")).rejects.toBeInstanceOf(SandboxCallError);
  const { body, headers } = signWebhook(
    { type: "account.linked", timestamp: "2026-11-25T05:00:00.000Z", sequence: 1, data: { accountId: "a" } }, "a secret of Jest");
  expect(verifyWebhook(body, headers, "a secret of Jest").type).toBe("account.linked");
  await sandbox.close();
}, 240_000);
`;
const JEST = ["jest@30.5.2", "ts-jest@29.4.15", "typescript@5.9.3"];

const jest = {
  name: JEST.join(" and "),
  async use(folder: string) {
    const tools = await installTools("toolchains/jest", JEST);
    const project = await openCommonJs(folder);
    const compilerOptions = { strict: true, target: "es2022", module: "commonjs", types: [] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await writeFile(join(project, "typed.test.ts"), JEST_TEST);
    const settings = {
      testMatch: ["**/typed.test.ts"],
      transform: { "\\.ts$": join(tools, "ts-jest") },
    };
    const args = ["--rootDir", project, "--config", JSON.stringify(settings)];
    await run(process.execPath, [join(tools, "jest/bin/jest.js"), ...args], project);
  },
};

export const TOOLCHAINS: readonly Toolchain[] = [...compilers, jest];
