import { failureBy } from "../../domain/refund-rules.ts";
import type { Fixture } from "../../storage/sandbox-data.ts";

/** The payments of a merchant in a new or reset sandbox, so that every example of the contract works as printed. */
export function fixturesOf(merchant: SandboxMerchant, now: Date): Fixture[] {
  const longAgo = new Date(now.getTime() - LONG_AGO_MS);
  const debit = { kind: "DEBIT", merchant, amountCents: HUNDRED_DOLLARS } as const;
  if (merchant === "globex") {
    return [{ ...debit, paymentId: "pay_globex", status: "SETTLED", settledAt: longAgo }];
  }
  return [
    { ...debit, paymentId: "pay_settled", status: "SETTLED", settledAt: longAgo, requestKey: "debit-1042" },
    { ...debit, paymentId: "pay_recent", status: "SETTLED", settledAt: now },
    { ...debit, paymentId: "pay_processing", status: "PROCESSING", settledAt: null },
    { ...debit, paymentId: "pay_failed", status: "FAILED", settledAt: null },
    { ...debit, paymentId: "pay_covered", status: "COVERED", settledAt: longAgo },
    {
      kind: "REFUND",
      merchant,
      paymentId: "pay_refund",
      amountCents: HUNDRED_DOLLARS,
      originalPaymentId: "pay_failed",
      requestKey: "refund-1040-1",
      failure: failureBy("original-failed"),
    },
  ];
}

/** The merchants of a sandbox; the access token of each is `sandbox_` and its name. */
export const SANDBOX_MERCHANTS = ["acme", "globex"] as const;

/** The merchant that a sandbox has as well when it is started with tomorrow's API. */
export const TOMORROW_MERCHANT = "tomorrow";

export type SandboxMerchant =
  | (typeof SANDBOX_MERCHANTS)[number]
  | typeof TOMORROW_MERCHANT
  | `worker${number}`;

/** Whether this is one of the merchants that a sandbox has from the start. */
export function isSandboxMerchant(merchant: string): merchant is SandboxMerchant {
  return (
    [...SANDBOX_MERCHANTS, TOMORROW_MERCHANT].some((name) => name === merchant) ||
    /^worker\d+$/.test(merchant)
  );
}

export const SANDBOX_SCOPES = ["refunds", "webhooks"] as const;

const HUNDRED_DOLLARS = 100_00;
/** 30 days in milliseconds. A refund of a payment that settled so long ago is `AUTHORIZED` at once. */
export const LONG_AGO_MS = 30 * 24 * 60 * 60 * 1000;
