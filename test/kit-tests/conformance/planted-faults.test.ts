/** The conformance kit finds each fault that a wrong server can have: one server per fault, one check that must fail. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ConformOptions } from "../../conformance/options.ts";
import { runConformance } from "../../conformance/run-conformance.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";
import { jsonOf, withHeaders, withJson } from "./fault-builders.ts";
import { FAULTY_CALLS } from "./faults-in-requests.ts";
import { FAULTY_RESPONSES } from "./faults-in-responses.ts";
import { startFaultyServer } from "./faulty-server.ts";
import { allOptions, failedIn, notRunIn, resetMerchant } from "./sandbox-options.ts";

/** How long is waited for what never comes. */
const SILENT_MS = 1_000;

describe("the conformance kit against a server with one planted fault", () => {
  const good = useTestServer({ engine: "postgres" });
  const faulty = forSuite(() => startFaultyServer(good.url));
  let options: ConformOptions;

  beforeAll(async () => {
    options = { ...(await allOptions(good.url)), url: faulty.url };
  });
  beforeEach(() => resetMerchant(good.url));

  test("fails no check of a server without a fault, on PostgreSQL, with every request of each constraint", {
    timeout: 120_000,
  }, async () => {
    faulty.plant(undefined);

    const report = await runConformance(options);

    expect(failedIn(report)).toEqual([]);
    expect(notRunIn(report)).toEqual(["response.retry-after"]);
  });

  test.each(["pay_recent", "4"])(
    "does not accuse a server of a header from a proxy, or of quoting the paymentId %s",
    async (paymentId) => {
      let calls = 0;
      faulty.plant(async (call, forward) => {
        const response = await forward(call);
        calls += 1;
        const age = withHeaders({ age: calls % 2 === 0 ? "1" : undefined });
        return age(withJson(response, { ...jsonOf(response), detail: `Unknown: ${jsonOf(call).paymentId}` }));
      });

      const payments = { ...options.payments, recent: paymentId };
      const report = await runConformance({ ...options, payments, only: ["payment.foreign"] });

      expect(failedIn(report)).toEqual([]);
    },
  );

  const all = { ...FAULTY_RESPONSES, ...FAULTY_CALLS };
  test.each(Object.entries(all))(
    "names a server that %s",
    async (_name, [check, fault, { beside, silent } = {}]) => {
      faulty.plant(fault);

      // The whole kit would report the fault as well; only these checks are fast enough to be run for each fault.
      const only = [check, beside ?? check];
      const timeoutMs = silent ? SILENT_MS : options.timeoutMs;
      const report = await runConformance({ ...options, only, timeoutMs });

      expect(failedIn(report)).toContain(check);
    },
  );
});
