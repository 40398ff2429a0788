import { describe, expect, test } from "vitest";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { forSuite } from "../../helpers/suite.ts";
import { holdCaller, holdReceiver, outcomes } from "./exams.ts";
import { startMerchant } from "./merchant.ts";
import { CALLERS, RECEIVERS } from "./mistakes.ts";

const restarting = (url: string) => ["--restart-url", `${url}/restart`];

describe("the exam of a receiver", () => {
  test("passes one without mistakes in every check", async () => {
    await using merchant = await startMerchant();

    const report = await holdReceiver(merchant.url, ...restarting(merchant.url));

    expect(outcomes(report)).toEqual({ failed: [], notRun: [] });
  });

  test.for(RECEIVERS)("finds one that %s", async ([mistake, ...failed]) => {
    await using merchant = await startMerchant(mistake);

    // Only the slow receiver gets a short time limit: on a busy machine others could exceed it, too.
    const isSlow = mistake === "receiver: handles one event at a time, slowly";
    const limit = isSlow ? ["--timeout", "1", "--only", "load."] : [];
    const report = await holdReceiver(merchant.url, ...restarting(merchant.url), ...limit);

    expect(outcomes(report).failed).toEqual(failed);
  });
});

describe("the exam of a caller", () => {
  const sandbox = forSuite(() => startSandbox({ settings: { SERVE_DOCS: "false" } }));

  test("passes one without mistakes in every check", async () => {
    await using merchant = await startMerchant();

    expect(outcomes(await holdCaller(sandbox, merchant.url))).toEqual({ failed: [], notRun: [] });
  });

  // By the checks that are meant for it: each one more makes the system wait once more.
  test.for(CALLERS)("finds one that %s", async ([mistake, ...failed]) => {
    await using merchant = await startMerchant(mistake);

    const report = await holdCaller(sandbox, merchant.url, "--only", failed.join(","));

    expect(outcomes(report).failed).toEqual(failed);
  });
});
