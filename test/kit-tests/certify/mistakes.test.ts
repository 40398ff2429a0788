/** The exam finds each mistake of a merchant's system, and passes systems without one. */
import { describe, expect, test } from "vitest";
import { startSandbox } from "../../../server/sandbox/index.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { startMerchant } from "./faulty-merchant.ts";
import { CALLERS, ENDLESS, PROGRAMS, RECEIVERS, RIGHT_CALLERS, RIGHT_RECEIVERS } from "./mistakes.ts";
import { examCaller, examCallerBy, examReceiver, outcomes } from "./run-exam.ts";

/** As long as a queue may wait before its next request. */
const SETTLE = ["--settle", "0.5"];

const PRINTS = "receiver: prints its secret";
const restarting = (url: string) => ["--restart-url", `${url}/restart`];

// At once, because each waits for most of its time.
describe.concurrent("the exam of a receiver", () => {
  test("passes one without mistakes in every check", async () => {
    await using merchant = await startMerchant();

    const report = await examReceiver(merchant.url, ...restarting(merchant.url));

    expect(outcomes(report)).toEqual({ failed: [], notRun: [] });
  });

  test.for(RECEIVERS.filter(([mistake]) => mistake !== PRINTS))(
    'finds the mistake "%s"',
    async ([mistake, ...failed]) => {
      await using merchant = await startMerchant(mistake);

      // Only the slow receiver gets a short time limit: on a busy machine others could exceed it, too.
      const isSlow = mistake === "receiver: handles one event at a time, slowly";
      const limit = isSlow ? ["--timeout", "1", "--only", "load."] : [];
      const report = await examReceiver(merchant.url, ...restarting(merchant.url), ...limit);

      expect(outcomes(report).failed).toEqual(failed);
    },
  );

  // Not at once: an exam judges all that its process has printed.
  test(`finds the mistake "${PRINTS}"`, { concurrent: false }, async () => {
    await using merchant = await startMerchant(PRINTS);

    const report = await examReceiver(merchant.url, ...restarting(merchant.url));

    expect(outcomes(report).failed).toEqual(["output.secret"]);
  });

  test.for(RIGHT_RECEIVERS)(
    'passes the right system "%s" in the checks %s',
    async ([merchantThat, only, ...times]) => {
      await using merchant = await startMerchant(merchantThat);

      const report = await examReceiver(merchant.url, "--only", only, ...times);

      expect(outcomes(report)).toEqual({ failed: [], notRun: [] });
    },
  );
});

describe("the exam of a caller", () => {
  const sandbox = forSuite(() => startSandbox({ settings: { SERVE_DOCS: "false" } }));

  test("passes one without mistakes in every check, but can't kill what a URL triggers", {
    timeout: 60_000,
  }, async () => {
    await using merchant = await startMerchant();

    expect(outcomes(await examCaller(sandbox, merchant.url))).toEqual({ failed: [], notRun: ["lost.crash"] });
  });

  // By the checks that are meant for it: each one more makes the system wait once more.
  test.for(CALLERS)('finds the mistake "%s"', async ([mistake, ...failed]) => {
    await using merchant = await startMerchant(mistake);

    const times = mistake === "caller: makes a new requestKey after a timeout, in a queue" ? SETTLE : [];
    const report = await examCaller(sandbox, merchant.url, "--only", failed.join(","), ...times);

    expect(outcomes(report).failed).toEqual(failed);
  });

  test.for(RIGHT_CALLERS)(
    'passes the right system "%s" in the checks %s',
    async ([merchantThat, only, ...times]) => {
      await using merchant = await startMerchant(merchantThat);

      const report = await examCaller(sandbox, merchant.url, "--only", only, ...times);

      expect(outcomes(report)).toEqual({ failed: [], notRun: [] });
    },
  );

  const program = new URL("faulty-program.ts", import.meta.url).pathname;
  test.for([["makes no mistake"] as const, ...PROGRAMS])(
    "kills a program that %s, and runs it again",
    async ([mistake, ...failed]) => {
      await using folder = await createTempDir();
      const command = `'${process.execPath}' '${program}' '${folder.path}' '${mistake}'`;

      const report = await examCallerBy(sandbox, "--run", command, "--only", "lost.crash,lost.unfinished");

      expect(outcomes(report)).toEqual({ failed, notRun: [] });
    },
  );

  test("kills no command that hands the refund over to a queue", async () => {
    await using merchant = await startMerchant("caller: issues refunds from a queue");
    const names = { url: "URL", token: "TOKEN", paymentId: "PAYMENT_ID", amount: "AMOUNT" };
    const order = Object.entries({ ...names, reference: "REFERENCE" });
    const body = order.map(([name, from]) => `\\"${name}\\":\\"$CERTIFY_${from}\\"`).join(",");
    const command = `curl -s -d "{${body}}" '${merchant.url}/refund'`;

    const report = await examCallerBy(sandbox, "--run", command, "--only", "lost.crash");

    expect(report.results[0]).toMatchObject({
      outcome: "not run",
      reason: expect.stringMatching("does not wait"),
    });
  });

  test("keeps the trouble of one check from the checks after it", async () => {
    await using merchant = await startMerchant(ENDLESS);
    const only = ["--only", "lost.unfinished,busy.503", "--timeout", "1", "--settle", "2"];

    const report = await examCaller(sandbox, merchant.url, ...only);

    expect(outcomes(report).failed).toEqual(["lost.unfinished"]);
  });
});
