import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { parse } from "yaml";
import { defineProof } from "../../../scripts/command/command.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { runProgram, type Settings } from "../../helpers/process.ts";
import { READER_ENV, runAsReader } from "../../helpers/projects.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { installRuntime, NODES } from "../packed/runtimes.ts";
import { check, endChecks } from "../support/checks.ts";

/*
 * Runs the steps of .github/workflows as the service does: each job in a clean clone of the last commit, its steps in their order, by
 * `bash -e`, with the job's environment and working directory. What this machine can't do is printed as not run, with the reason.
 */

const FOLDER = ".github/workflows";

type Step = {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Settings;
  readonly with?: Settings;
  readonly "working-directory"?: string;
};
type Job = {
  readonly steps: readonly Step[];
  readonly needs?: readonly string[];
  readonly env?: Settings;
  readonly defaults?: { readonly run?: { readonly "working-directory"?: string } };
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly (string | number)[]>> };
};
type Named = { readonly name: string; readonly job: Job };

/** Steps that run elsewhere, or need what a machine without the service lacks. */
const NOT_RUN: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^\.ci\/run$/, "it runs everything that proves the project"],
  [/^npm run proof -- generators /, "`npm test -- --whole` runs it for the languages that are installed"],
  [/^sudo /, "it installs packages of the system"],
  [/^(pip|pipx) /, "it needs the registry of Python"],
  [/^npm audit signatures$/, "it needs a registry that has signatures"],
];

const SERVICE: Settings = {
  CI: "true",
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "refund-contract/refund-contract",
};
/** npm packs and checks, and sends nothing. */
const DRY: Settings = { npm_config_dry_run: "true" };

const jobs: Named[] = [];
for (const file of (await readdir(FOLDER)).toSorted()) {
  const workflow = parse(await readFile(join(FOLDER, file), "utf8")) as { jobs: Record<string, Job> };
  for (const [name, job] of Object.entries(workflow.jobs))
    jobs.push({ name: `${file.replace(/\.yml$/, "")}/${name}`, job });
}

const command = defineProof("workflows")
  .addArgument(
    new Argument("[job...]", "which jobs to run, as ci/static; all when left out").choices(
      jobs.map(({ name }) => name),
    ),
  )
  .parse();

const hasDocker = (await runProgram(["docker", "compose", "ps"]).catch(() => ({ code: 1 }))).code === 0;
const root = await makeTempDir();
const clone = join(root, "clone");
/** Whether a job has installed the packages, which all jobs would install anew. */
let isInstalled = false;
let notRun = 0;
try {
  await runAsReader(["git", "clone", "--quiet", ROOT, clone], root);
  for (const { name, job } of jobs)
    if (command.args.length === 0 || command.args.includes(name)) await runJob(name, job);
} finally {
  await rm(root, { recursive: true, force: true });
}
console.log(`${notRun} steps not run`);
endChecks();

async function runJob(name: string, job: Job): Promise<void> {
  for (const values of combine(job.strategy?.matrix ?? {})) {
    const title = [name, ...Object.values(values)].join(" ");
    await runAsReader(["git", "checkout", "--quiet", "."], clone);
    await runAsReader(["git", "clean", "-ffdxq", "--exclude=/node_modules"], clone);
    let path = process.env.PATH ?? "";
    for (const step of job.steps) {
      const run = step.run && fill(step.run, values).trim();
      const label = `${title}: ${step.name ?? run ?? step.uses}`;
      const wanted = step.with?.["node-version"];
      if (wanted) path = await toPath(fill(`${wanted}`, values));
      const reason = run === undefined ? "it is an action of the service" : whyNot(run, step);
      if (run === undefined || reason) {
        notRun += 1;
        console.log(`- ${label}: not run, because ${reason}`);
        continue;
      }
      const dry = /npm publish/.test(run) ? DRY : {};
      const env = { ...READER_ENV, ...SERVICE, ...dry, ...job.env, ...step.env, PATH: path };
      const cwd = join(clone, step["working-directory"] ?? job.defaults?.run?.["working-directory"] ?? ".");
      await check(label, () => runStep(run, cwd, env));
    }
  }
}

/** Runs one command, or what takes less in its place: packages are installed once, and projects of tests are listed. */
async function runStep(run: string, folder: string, env: Settings): Promise<string | undefined> {
  if (run === "npm ci" && isInstalled) return "the packages that an earlier job has installed";
  const [, project] = /^npx vitest run --project (\w+)$/.exec(run) ?? [];
  const output = await runScript(
    project ? `npx vitest list --filesOnly --project ${project}` : run,
    folder,
    env,
  );
  if (run === "npm ci") isInstalled = true;
  if (!project) return undefined;
  const count = output.split("\n").filter((line) => line.includes(".test.ts")).length;
  if (count === 0) throw new Error(`the project ${project} has no tests`);
  return `${count} files, only listed, because \`npm test\` runs them`;
}

/** As the service does: the first command that fails ends the script. */
async function runScript(script: string, folder: string, env: Settings): Promise<string> {
  const file = join(root, "step.sh");
  await writeFile(file, script);
  return runAsReader(["bash", "-e", file], folder, env);
}

function whyNot(run: string, { if: condition }: Step): string | undefined {
  // No step before it has failed; the other conditions let it run.
  if (condition?.includes("failure()")) return "no step has failed";
  if (/\bdocker |127\.0\.0\.1:3000/.test(run) && !hasDocker) return "no Docker runs on this machine";
  return NOT_RUN.find(([pattern]) => pattern.test(run))?.[1];
}

/** The search path with the Node of that release in front, as setup-node leaves it, and nothing that npm has added. */
async function toPath(release: string): Promise<string> {
  const runtime = NODES.find(({ name }) => name === `node-${release}`);
  if (!runtime) throw new Error(`there is no Node ${release} here`);
  const node = process.versions.node.startsWith(`${release}.`)
    ? dirname(process.execPath)
    : join(await installRuntime(runtime), `node-linux-${process.arch}/bin`);
  const others = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"));
  return [node, ...others].join(delimiter);
}

/** All combinations of a job's matrix; one without values for a job that has none. */
function combine(matrix: Readonly<Record<string, readonly (string | number)[]>>) {
  return Object.entries(matrix).reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: `${value}` }))),
    [{}],
  );
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ matrix\.(\w+) \}\}/g, (expression, name) => values[name] ?? expression);
}
