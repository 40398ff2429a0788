import type { ConformOptions } from "./options.ts";

/** Something that must be given for a check to be made: the option that gives it, and whether it does. */
export interface Need {
  readonly option: string;
  isMet(options: ConformOptions): boolean;
}

const need = (option: string, isMet: Need["isMet"]): Need => ({ option, isMet });

const payments = (kinds: readonly (keyof ConformOptions["payments"])[]): Need =>
  need(`--payments ${kinds.map((kind) => `${kind}=…`).join(" or ")}`, ({ payments }) =>
    kinds.some((kind) => payments[kind] !== undefined),
  );

export const NEEDS = {
  token: need("--token", ({ token }) => token !== undefined),
  otherToken: need("--other-token", ({ otherToken }) => otherToken !== undefined),
  secondToken: need("--second-token", ({ secondToken }) => secondToken !== undefined),
  unscopedToken: need("--unscoped-token", ({ unscopedToken }) => unscopedToken !== undefined),
  paymentKey: need("--payment-key", ({ paymentKey }) => paymentKey !== undefined),
  receiver: need("--receiver", ({ receiver }) => receiver !== undefined),
  sandbox: need("--sandbox", ({ sandbox }) => sandbox),
  settled: payments(["settled"]),
  recent: payments(["recent"]),
  processing: payments(["processing"]),
  failed: payments(["failed"]),
  covered: payments(["covered"]),
  refund: payments(["refund"]),
  /** Any of the merchant's own. */
  payment: payments(["recent", "processing", "settled", "failed", "covered", "refund"]),
  /** One with money to give back. */
  refundable: payments(["recent", "processing", "settled"]),
  /** One whose refunds fail, so that larger amounts take nothing. */
  unrefundable: payments(["failed", "covered", "refund"]),
} as const satisfies Record<string, Need>;
