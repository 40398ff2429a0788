import { expect, test } from "vitest";
import { runRedocly } from "../../scripts/command/redocly.ts";

// Each parameter of an operation costs a point, and D33 has three headers for tracing, all optional.
test("the contract scores at least 87 of 100 by the measure of its own tool", async () => {
  const report = await runRedocly(["score", "openapi/openapi.yaml", "--format=json"]);

  expect(JSON.parse(report).agentReadiness).toBeGreaterThanOrEqual(87);
});
