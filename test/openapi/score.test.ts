import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the contract scores at least 90 of 100 by the measure of its own tool", async () => {
  const args = ["score", "openapi/openapi.yaml", "--format=json"];
  const { stdout } = await promisify(execFile)("redocly", args, {
    env: { ...process.env, REDOCLY_TELEMETRY: "off" },
  });

  expect(JSON.parse(stdout).agentReadiness).toBeGreaterThanOrEqual(90);
});
