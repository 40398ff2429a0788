import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { PROOFS } from "../../scripts/shared/proofs.ts";

type Step = { readonly uses?: string; readonly run?: string };

const read = (file: string) => readFile(file, "utf8");
const stepsOf = (workflow: string): Step[] =>
  Object.values(parse(workflow).jobs as Record<string, { steps: Step[] }>).flatMap(({ steps }) => steps);

describe("the workflow ci", () => {
  test("names each action by its commit and its version", async () => {
    const workflow = await read(".github/workflows/ci.yml");
    const lines = workflow.split("\n").filter((line) => /\buses:/.test(line));

    expect(lines).toHaveLength(stepsOf(workflow).filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("runs only commands and proofs that exist", async () => {
    const { scripts } = JSON.parse(await read("package.json"));
    const steps = stepsOf(await read(".github/workflows/ci.yml"));
    const texts = [...steps.map(({ run = "" }) => run), await read(".ci/run")];

    for (const [, command = "", proof = ""] of texts.flatMap((text) => [
      ...text.matchAll(/^npm run ([\w:]+)(?: -- ([\w-]+))?/gm),
    ])) {
      expect(scripts).toHaveProperty([command]);
      if (command === "proof") expect(PROOFS).toHaveProperty(proof);
    }
  });

  test("runs the unit tests on both Nodes, and then all that proves the project", async () => {
    const { unit, whole } = parse(await read(".github/workflows/ci.yml")).jobs;

    expect(unit.strategy.matrix.node).toEqual([22, 24]);
    expect(whole.steps).toContainEqual({ run: ".ci/run" });
  });
});
