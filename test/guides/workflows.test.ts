import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parse } from "yaml";
import { readGenerated } from "../../openapi/document/generated.ts";
import { PROOFS } from "../../scripts/command/proofs.ts";
import { ROOT } from "../../scripts/command/root.ts";
import { findFreePort } from "../helpers/network/free-port.ts";
import { runProgram, type Settings, trySignal } from "../helpers/process.ts";
import { startTestServer } from "../helpers/server.ts";
import { testProjects } from "../helpers/test-projects.ts";
import { blocksOf } from "./blocks.ts";
import { createProjectFolder } from "./project-folder.ts";

const read = (path: string) => readFile(join(ROOT, path), "utf8");

type Step = { readonly name?: string; readonly uses?: string; readonly run?: string };

const guide = blocksOf(await read("docs/guides/contract-tests-with-prism.md"));
const copied = guide.find(({ language }) => language === "yaml")?.text ?? "";
const own = await read(".github/workflows/ci.yml");
const others = await Promise.all(
  ["release", "containers", "scan"].map(
    async (name) => [name, await read(`.github/workflows/${name}.yml`)] as const,
  ),
);
const packages = blocksOf(await read("docs/guides/packages.md"));
const withSandbox = packages.find(({ language }) => language === "yaml")?.text ?? "";

const [script, scripted] = [
  await read("docs/examples/before-you-go-live/refunds-ci.sh"),
  await read("docs/examples/before-you-go-live/refunds-ci.yml"),
];

const stepsOf = (workflow: string): Step[] =>
  Object.values(parse(workflow).jobs as Record<string, { steps: Step[] }>).flatMap(({ steps }) => steps);

describe("the workflow that the guide gives to copy", () => {
  test("passes step by step in a project with the guide's test, with Prism before the mock and a sandbox", async () => {
    const [install, ...steps] = stepsOf(copied).flatMap(({ run }) => (run === undefined ? [] : [run]));
    // The only step that needs the network; its result already exists here.
    expect(install).toBe("npm ci");
    expect(steps).toHaveLength(2);
    await using server = await startTestServer();
    await using project = await createProjectFolder(server.url);
    const scripts = { test: "node --test" };
    await writeFile(join(project.folder, "package.json"), JSON.stringify({ private: true, scripts }));
    const contractTest = guide.find(({ marks }) => marks.get("file") === "contract.test.mjs");
    await writeFile(join(project.folder, "contract.test.mjs"), contractTest?.text ?? "");
    await writeFile(join(project.folder, "openapi.json"), readGenerated("openapi.json"));
    const ports = { 4010: await findFreePort(), 4011: await findFreePort() };

    for (const [index, step] of steps.entries()) {
      const script = step.replaceAll(/\b401[01]\b/g, (port) => String(ports[port as "4010" | "4011"]));
      await writeFile(join(project.folder, "step.sh"), script);
      // As the CI runner does. Background processes of a step live until the job ends.
      const end = "echo step failed; sleep infinity"; // keeps background processes within reach
      const command = `trap "${end}" EXIT; set -e; . ./step.sh; echo step passed; sleep infinity`;
      const started = project.start(`step ${index}`, "bash", "-c", command);
      expect((await started.untilPrinted(/^step (passed|failed)$/m))[0]).toBe("step passed");
    }
  });
});

test("the workflow to copy with a script calls each of its steps, in its order", () => {
  const [, steps = ""] = /^STEPS="(.*)"$/m.exec(script) ?? [];
  const called = stepsOf(scripted).flatMap(
    ({ run = "" }) => /^sh refunds-ci\.sh (\w+)$/.exec(run)?.[1] ?? [],
  );

  expect(called).toEqual(steps.split(" "));
});

const RECEIVER = `import { createServer } from "node:http";
  import { writeFileSync } from "node:fs";
  createServer((_, response) => response.end()).listen(process.env.PORT);
  writeFileSync("own.pid", String(process.pid));`;

describe("the exam of the script to copy", () => {
  test.each<[stop: string, Settings, code: number, passed: boolean]>([
    ["passes", { STOP_RECEIVER: "kill $(cat own.pid)" }, 0, true],
    ["passes, and the receiver has no pid file", {}, 0, false],
    ["fails", { STOP_RECEIVER: "kill $(cat own.pid)", FAILS: "1" }, 1, true],
    [
      "fails, and the receiver can't be stopped",
      { STOP_RECEIVER: "no-such-program (", FAILS: "1" },
      1,
      false,
    ],
  ])("%s, with an exit code that says only that", async (_, settings, code, isStopped) => {
    await using project = await createProjectFolder("http://127.0.0.1:9");
    const bin = join(project.folder, ".refunds-ci/node_modules/.bin");
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, "refund-contract-certify"), "#!/bin/sh\nexit $FAILS\n", { mode: 0o755 });
    await writeFile(join(project.folder, "receiver.mjs"), RECEIVER);
    // What a shell has started in the background outlives the shell.
    await writeFile(join(project.folder, "receiver.sh"), "node receiver.mjs & wait\n");

    const PORT = String(await findFreePort());
    const RECEIVER_URL = `http://127.0.0.1:${PORT}/`;
    const env = { PORT, RECEIVER_URL, FAILS: "0", ...settings };
    const exit = await runProgram(["sh", "-c", script, "refunds-ci.sh", "exam"], {
      cwd: project.folder,
      env,
    });
    const pid = Number(await readFile(join(project.folder, "own.pid"), "utf8"));
    onTestFinished(() => trySignal(pid, "SIGKILL"));

    expect(exit).toMatchObject({ code });
    if (isStopped) await vi.waitFor(() => expect(fetch(RECEIVER_URL)).rejects.toThrow());
    else expect((await fetch(RECEIVER_URL)).status).toBe(200);
  });
});

describe.each<readonly [name: string, workflow: string]>([
  ["of this project", own],
  ["to copy", copied],
  ["to copy with a sandbox", withSandbox],
  ["to copy with a script", scripted],
  ...others,
])("the workflow %s", (_, workflow) => {
  test("names each action by its commit, and says which version that is", () => {
    const lines = workflow.split("\n").filter((line) => /\buses:/.test(line));

    expect(lines).toHaveLength(stepsOf(workflow).filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

test.each<readonly [name: string, workflow: string]>([["ci", own], ...others])(
  "the workflow %s runs only commands and proofs that there are",
  async (_, workflow) => {
    const { scripts } = JSON.parse(await read("package.json"));
    const texts = [...stepsOf(workflow).map(({ run = "" }) => run), await read(".ci/run")];
    const called = texts.flatMap((text) => [...text.matchAll(/^npm run ([\w:]+)(?: -- ([\w-]+))?/gm)]);

    expect(called.length).toBeGreaterThan(0);
    for (const [, name = "", proof = ""] of called) {
      expect(scripts).toHaveProperty([name]);
      if (name === "proof") expect(PROOFS).toHaveProperty(proof);
    }
  },
);

test("Dependabot knows each lockfile, the actions and the images", async () => {
  const { updates } = parse(await read(".github/dependabot.yml"));
  const { stdout } = await runProgram(["git", "ls-files", "*package-lock.json"]);
  const folders = stdout
    .trim()
    .split("\n")
    .map((file) => `/${dirname(file)}`.replace("/.", "/"));

  expect(updates).toMatchObject([
    { "package-ecosystem": "npm", directories: expect.arrayContaining(folders) },
    { "package-ecosystem": "github-actions", directory: "/" },
    { "package-ecosystem": "docker", directory: "/server/operators/run" },
    { "package-ecosystem": "docker-compose", directory: "/server/operators/run" },
  ]);
});

describe("the workflow of this project", () => {
  test("runs every project of the tests", () => {
    const { unit, tests } = parse(own).jobs;

    expect(unit.strategy.matrix.node).toEqual([22, 24]);
    expect(["unit", ...tests.strategy.matrix.project]).toEqual(testProjects.map(({ name }) => name));
  });
});
