import { expect, test } from "vitest";
import { runRedocly } from "../../scripts/command/redocly.ts";

test("the contract scores at least 90 of 100 by the measure of its own tool", async () => {
  const report = await runRedocly(["score", "openapi/generated/openapi.yaml", "--format=json"]);

  expect(JSON.parse(report).agentReadiness).toBeGreaterThanOrEqual(90);
});
