import { expect, test } from "vitest";
import { runProgram } from "../../helpers/process.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { record } from "../faults/setup/figures.ts";
import { startDeployment } from "./deployment.ts";

const PAYMENTS = "settled=pay_settled,recent=pay_recent,processing=pay_processing,failed=pay_failed";

test("each of three servers on distributed tables passes the conformance kit", async () => {
  await using deployment = await startDeployment();

  for (const [index, { url }] of deployment.servers.entries()) {
    const reset = await sandboxOf({ url })("resetSandbox");
    expect(reset.status).toBeLessThan(300);
    const { code, stdout, stderr } = await conform(url);
    const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(stdout) ?? [];
    record(`conformance of server ${index + 1}`, { passed: Number(passed), failed: Number(failed) });
    expect(code, stdout + stderr).toBe(0);
  }
});

function conform(url: string) {
  const tokens = ["--token", "sandbox_acme", "--other-token", "sandbox_globex"];
  const options = ["--url", url, ...tokens, "--payments", PAYMENTS, "--receiver", "http://127.0.0.1:0"];
  return runProgram([process.execPath, "test/conformance/cli.ts", ...options]);
}
