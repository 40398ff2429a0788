import { describe, expect, test } from "vitest";
import { verifyWebhook } from "../../../client/src/webhooks/verify.ts";
import { fuzzWebhooks } from "../../proofs/fuzz/webhooks.ts";

/** `FUZZ_RUNS` makes it longer, and `FUZZ_SEED` other deliveries. */
const { FUZZ_RUNS = "10000", FUZZ_SEED = "20260101" } = process.env;
const SETTINGS = { runs: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED) };

describe("deliveries that were changed in every way", () => {
  test("are accepted when the secret has signed them, and else refused with a reason, and nothing else", () => {
    const { accepted, refused } = fuzzWebhooks(SETTINGS);

    expect(accepted).toBeGreaterThan(1_000);
    expect(Object.keys(refused).sort()).toEqual([
      "invalid-timestamp",
      "missing-header",
      "no-matching-signature",
      "timestamp-too-new",
      "timestamp-too-old",
    ]);
  });

  test.each<[fault: string, verify: typeof verifyWebhook]>([
    ["accepts everything", () => ({}) as ReturnType<typeof verifyWebhook>],
    [
      "reads bytes that are no UTF-8 as the mark for them",
      (body, ...rest) =>
        verifyWebhook(new TextDecoder("utf-8", { fatal: false }).decode(body as Uint8Array), ...rest),
    ],
    [
      "does not look at the clock",
      (body, headers, secret) =>
        verifyWebhook(body, headers, secret, { now: () => new Date(Date.UTC(2026, 10, 20, 12)) }),
    ],
    [
      "breaks at a header that is not there",
      (body, headers, ...rest) => {
        if (!("get" in headers) && headers["webhook-id"] === undefined) throw new TypeError("undefined");
        return verifyWebhook(body, headers, ...rest);
      },
    ],
  ])("find out a verification that %s", (_fault, verify) => {
    expect(() => fuzzWebhooks({ ...SETTINGS, verify: verify as never })).toThrow();
  });
});
