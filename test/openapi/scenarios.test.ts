import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runRedocly } from "../../scripts/command/redocly.ts";
import { startTestServer } from "../helpers/server.ts";
import { createTempDir } from "../helpers/temp-dir.ts";

/** The parts of Redocly's report that this test reads. */
type Workflow = { workflowId: string; executedSteps: (Step | Workflow)[] };
type Step = { stepId: string; checks: { name: string; passed: boolean; condition?: string }[] };
type Report = { files: Record<string, { executedWorkflows: Workflow[] }> };

const OPENAPI = fileURLToPath(new URL("../../openapi/", import.meta.url));
const SCENARIOS = "sandbox/scenarios.arazzo.yaml";

const { workflows } = parse(await readFile(join(OPENAPI, SCENARIOS), "utf8")) as {
  workflows: { workflowId: string; steps: { stepId: string }[] }[];
};

describe("the scenarios of a merchant's day, run against a fresh sandbox", () => {
  let executed: Workflow[];

  beforeAll(async () => {
    await using server = await startTestServer();
    await using folder = await createTempDir();
    executed = await runScenarios(folder.path, server.url);
  });

  test.each(workflows)("$workflowId passes every check of every step", ({ workflowId, steps }) => {
    const run = executed.find((workflow) => workflow.workflowId === workflowId);

    const checks = run ? checksOf(run) : [];
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(run?.executedSteps).toHaveLength(steps.length);
    expect(checks.length).toBeGreaterThan(steps.length);
    expect(checks.map(({ name }) => name)).toContain("schema check");
  });
});

/** A step that calls another workflow contains that workflow's steps. */
function checksOf({ executedSteps }: Workflow): (Step["checks"][number] & { stepId: string })[] {
  return executedSteps.flatMap((step) =>
    "executedSteps" in step
      ? checksOf(step)
      : step.checks.map((check) => ({ stepId: step.stepId, ...check })),
  );
}

/** Runs the scenarios with Redocly's own command, from a folder with copies of them and of the bundles. */
async function runScenarios(folder: string, server: string): Promise<Workflow[]> {
  await mkdir(join(folder, "sandbox"));
  await mkdir(join(folder, "generated"));
  await cp(join(OPENAPI, SCENARIOS), join(folder, SCENARIOS));
  for (const name of ["openapi", "sandbox"]) {
    await cp(join(OPENAPI, `generated/${name}.yaml`), join(folder, `generated/${name}.yaml`));
  }
  const servers = ["refunds", "sandbox"].flatMap((source) => ["--server", `${source}=${server}`]);
  const options = ["--input", "accessToken=sandbox_acme", ...servers, "--json-output", "report.json"];
  // A step that fails is named by its test.
  await runRedocly(["respect", SCENARIOS, ...options], { cwd: folder }).catch(() => {});

  const report = await readFile(join(folder, "report.json"), "utf8");
  return Object.values((JSON.parse(report) as Report).files).flatMap((file) => file.executedWorkflows);
}
