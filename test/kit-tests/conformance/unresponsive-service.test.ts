import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type ConformOptions, DEFAULTS } from "../../conformance/options.ts";
import { runConformance } from "../../conformance/run-conformance.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { runProgram, startProgram } from "../../helpers/process.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { startFaultyServer } from "./faulty-server.ts";
import { allOptions, failedIn, toArguments } from "./sandbox-options.ts";

const CONFORM = [process.execPath, "test/conformance/cli.ts"];

describe("the conformance kit and a service without responses", () => {
  test.each<[name: string, trouble: (response: ServerResponse) => void, received: RegExp, failed: string[]]>([
    [
      "gives up after three calls without a response in time",
      () => {},
      /^no response within 1 s$/,
      ["example.issueRefund.unknownPayment", "path.unknown", "path.case"],
    ],
    [
      "says that the connection ended",
      (response) => response.destroy(),
      /^no response: other side closed$/,
      ["example.issueRefund.unknownPayment", "path.unknown", "path.case", "path.trailing-slash"],
    ],
  ])("%s", async (_name, trouble, received, failed) => {
    let calls = 0;
    await using service = await serveLocally((request, response) => {
      request.resume();
      calls += 1;
      if (calls <= 2) response.writeHead(400).end();
      else trouble(response);
    });
    const only = ["example.issueRefund", "path."];

    const { url } = service;
    const report = await runConformance({ ...DEFAULTS, url, token: "a-token", timeoutMs: 1_000, only });

    expect(failedIn(report)).toEqual(failed);
    expect(report.results.find(({ id }) => id === failed[0])?.failure?.received).toMatch(received);
  });
});

describe("the conformance kit and a service that breaks during the run", { timeout: 60_000 }, () => {
  const good = useTestServer();
  const faulty = forSuite(() => startFaultyServer(good.url));
  const folder = forSuite(createTempDir);
  let options: ConformOptions;

  beforeAll(async () => {
    options = { ...(await allOptions(good.url)), url: faulty.url };
  });

  test("goes on to its end after an example that never got a response", async () => {
    faulty.plant((call, forward) =>
      call.body.includes("Refund order 1042") ? new Promise(() => {}) : forward(call),
    );
    const only = ["example.issueRefund.authorized", "example.issueRefund.pending"];

    const program = [...CONFORM, ...toArguments({ ...options, only, timeoutMs: 1_000 })];
    const { code, stdout } = await runProgram(program, { limitMs: 60_000 });

    expect(stdout).toContain("received  no response within 1 s");
    expect(code).toBe(1);
  });

  test("ends the subscriptions of the deliveries also when the check that ends them is not run", async () => {
    faulty.plant(undefined);

    const report = await runConformance({ ...options, only: ["delivery.arrives"] });

    expect(failedIn(report)).toEqual([]);
    expect(report).toMatchObject({ subscriptionsMade: 3, subscriptionsEnded: 3 });
  });

  test("ends at SIGTERM with what ran, its report, and no subscription left", async () => {
    const file = join(folder.path, "report.json");
    const args = toArguments({ ...options, only: ["delivery."] });
    await using program = startProgram([...CONFORM, ...args, "--json", file]);
    let refunds = 0;
    faulty.plant((call, forward) => {
      if (call.headers.traceparent !== undefined && ++refunds === 1) program.kill("SIGTERM");
      return forward(call);
    });

    const { code, stdout, stderr } = await program.exit;

    expect(code, stdout + stderr).toBe(143);
    expect(stdout).toContain("✓ delivers the first status");
    expect(stdout).not.toContain("that stay");
    expect(stdout).toContain("1 passed, 0 failed, 7 not run");
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ passed: 1, notRun: 7 });
  });
});
