import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { record } from "../faults/rig/figures.ts";
import { startDeployment } from "./rig/deployment.ts";

const PAYMENTS = "settled=pay_settled,recent=pay_recent,processing=pay_processing,failed=pay_failed";

test("each of three servers on distributed tables passes the conformance kit", async () => {
  await using deployment = await startDeployment();

  for (const [index, { url }] of deployment.servers.entries()) {
    const reset = await sandboxOf({ url })("resetSandbox");
    expect(reset.status).toBeLessThan(300);
    const { code, output } = await conform(url);
    const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(output) ?? [];
    record(`conformance of server ${index + 1}`, { passed: Number(passed), failed: Number(failed) });
    expect(code, output).toBe(0);
  }
});

async function conform(url: string): Promise<{ code: number; output: string }> {
  const tokens = ["--token", "sandbox_acme", "--other-token", "sandbox_globex"];
  const child = spawn(
    process.execPath,
    [
      "test/conformance/conform.ts",
      "--url",
      url,
      ...tokens,
      "--payments",
      PAYMENTS,
      "--receiver",
      "http://127.0.0.1:0",
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}
