import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runRedocly } from "../../scripts/shared/redocly.ts";
import { startTestServer } from "../helpers/server.ts";
import { createTempDir } from "../helpers/temp-dir.ts";

/** The parts of Redocly's report that this test reads. */
type Workflow = { workflowId: string; stepId?: string; executedSteps: (Step | Workflow)[] };
type Step = { stepId: string; checks: { name: string; passed: boolean; condition?: string }[] };
type Report = { files: Record<string, { executedWorkflows: Workflow[] }> };

const SCENARIOS = "openapi/sandbox/scenarios.arazzo.yaml";

const { workflows } = parse(await readFile(SCENARIOS, "utf8")) as {
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
    expect(run && lastAttempts(run)).toHaveLength(steps.length);
    expect(checks.length).toBeGreaterThan(steps.length);
    expect(checks.map(({ name }) => name)).toContain("schema check");
  });
});

/** Each step as it went at last: the report also has the attempts after which it was repeated, as the document says. */
function lastAttempts({ executedSteps }: Workflow): (Step | Workflow)[] {
  return [...new Map(executedSteps.map((step) => [step.stepId, step])).values()];
}

/** A step that calls another workflow contains that workflow's steps. */
function checksOf(workflow: Workflow): (Step["checks"][number] & { stepId: string })[] {
  return lastAttempts(workflow).flatMap((step) =>
    "executedSteps" in step
      ? checksOf(step)
      : step.checks.map((check) => ({ stepId: step.stepId, ...check })),
  );
}

/** Runs the scenarios with Redocly's own command, which reports into a folder. */
async function runScenarios(folder: string, server: string): Promise<Workflow[]> {
  const file = join(folder, "report.json");
  const servers = ["refunds", "sandbox"].flatMap((source) => ["--server", `${source}=${server}`]);
  const options = ["--input", "accessToken=sandbox_acme", ...servers, "--json-output", file];
  // A step that fails is named by its test.
  await runRedocly(["respect", SCENARIOS, ...options]).catch(() => {});

  const report: Report = JSON.parse(await readFile(file, "utf8"));
  return Object.values(report.files).flatMap(({ executedWorkflows }) => executedWorkflows);
}
