import { access, constants, copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { findFreePort } from "../helpers/free-port.ts";
import { startTestServer } from "../helpers/server.ts";
import { blocksOf } from "./blocks.ts";
import { createWorkshop } from "./workshop.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const read = (path: string) => readFile(join(ROOT, path), "utf8");

type Step = { readonly name?: string; readonly uses?: string; readonly run?: string };

const guide = blocksOf(await read("docs/guides/contract-tests-with-prism.md"));
const copied = guide.find(({ language }) => language === "yaml")?.text ?? "";
const own = await read(".github/workflows/ci.yml");

const stepsOf = (workflow: string): Step[] =>
  Object.values(parse(workflow).jobs as Record<string, { steps: Step[] }>).flatMap(({ steps }) => steps);

describe("the workflow that the guide gives to copy", () => {
  test("passes step by step in a project with the guide's test, with Prism before the mock and a sandbox", async () => {
    const [install, ...steps] = stepsOf(copied).flatMap(({ run }) => (run === undefined ? [] : [run]));
    // The one step that fetches from the network; its result is here.
    expect(install).toBe("npm ci");
    expect(steps).toHaveLength(2);
    await using server = await startTestServer();
    await using workshop = await createWorkshop(server.url);
    const scripts = { test: "node --test" };
    await writeFile(join(workshop.folder, "package.json"), JSON.stringify({ private: true, scripts }));
    const contractTest = guide.find(({ marks }) => marks.get("file") === "contract.test.mjs");
    await writeFile(join(workshop.folder, "contract.test.mjs"), contractTest?.text ?? "");
    await copyFile(join(ROOT, "openapi/generated/openapi.json"), join(workshop.folder, "openapi.json"));
    const ports = { 4010: await findFreePort(), 4011: await findFreePort() };

    for (const [index, step] of steps.entries()) {
      const script = step.replaceAll(/\b401[01]\b/g, (port) => String(ports[port as "4010" | "4011"]));
      await writeFile(join(workshop.folder, "step.sh"), script);
      // As the runner does it. What a step leaves in the background lives on until the job ends.
      const command = "bash -e step.sh || kill -9 0; echo step passed; sleep infinity";
      await workshop.start(`step ${index}`, /^step passed$/m, "bash", "-c", command);
    }
  });
});

describe.each([
  ["of this project", own],
  ["to copy", copied],
])("the workflow %s", (_, workflow) => {
  test("names each action by its commit, and says which version that is", () => {
    const lines = workflow.split("\n").filter((line) => /\buses:/.test(line));

    expect(lines).toHaveLength(stepsOf(workflow).filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

describe("the workflow of this project", () => {
  test("runs only what is there", async () => {
    const { scripts } = JSON.parse(await read("package.json"));
    const commands = stepsOf(own).flatMap(({ run }) => (run === undefined ? [] : [run]));

    expect(commands).toEqual([".ci/run", "npm run review"]);
    await access(join(ROOT, ".ci/run"), constants.X_OK);
    const called = [...commands, await read(".ci/run")].flatMap((text) => [
      ...text.matchAll(/^npm (?:run )?(\w+)/gm),
    ]);
    expect(called.map(([, name]) => name)).toEqual(["review", "ci", "test"]);
    for (const [, name = ""] of called) if (name !== "ci") expect(scripts).toHaveProperty(name);
  });

  test("keeps the file that the review writes", async () => {
    const kept = stepsOf(own).find(({ uses }) => uses?.includes("upload-artifact")) as {
      with: { path: string };
    };

    expect(await read("scripts/review.ts")).toContain(`default: "${kept.with.path}"`);
  });
});
