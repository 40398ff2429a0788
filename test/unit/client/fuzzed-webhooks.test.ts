import { expect, test } from "vitest";
import { fuzzWebhooks } from "../../proofs/fuzz/webhooks.ts";

/** `FUZZ_RUNS` makes it longer, and `FUZZ_SEED` other deliveries. */
const { FUZZ_RUNS = "10000", FUZZ_SEED = "20260101" } = process.env;

test("changed deliveries are accepted when the secret has signed them, and else refused with a reason, and nothing else", () => {
  const { accepted, refused } = fuzzWebhooks({ runs: Number(FUZZ_RUNS), seed: Number(FUZZ_SEED) });

  expect(accepted).toBeGreaterThan(1_000);
  expect(Object.keys(refused).sort()).toEqual([
    "invalid-timestamp",
    "missing-header",
    "no-matching-signature",
    "timestamp-too-new",
    "timestamp-too-old",
  ]);
});
