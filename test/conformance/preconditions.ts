import type { ConformOptions } from "./options.ts";

/** A precondition of a check: the option that satisfies it, and whether that option is set. */
export type Precondition = {
  readonly option: string;
  isMet(options: ConformOptions): boolean;
};

const precondition = (option: string, isMet: Precondition["isMet"]): Precondition => ({ option, isMet });

const payments = (kinds: readonly (keyof ConformOptions["payments"])[]): Precondition =>
  precondition(`--payments ${kinds.map((kind) => `${kind}=…`).join(" or ")}`, ({ payments }) =>
    kinds.some((kind) => payments[kind] !== undefined),
  );

export const PRECONDITIONS = {
  token: precondition("--token", ({ token }) => token !== undefined),
  otherToken: precondition("--other-token", ({ otherToken }) => otherToken !== undefined),
  secondToken: precondition("--second-token", ({ secondToken }) => secondToken !== undefined),
  unscopedToken: precondition("--unscoped-token", ({ unscopedToken }) => unscopedToken !== undefined),
  paymentKey: precondition("--payment-key", ({ paymentKey }) => paymentKey !== undefined),
  receiver: precondition("--receiver", ({ receiver }) => receiver !== undefined),
  sandbox: precondition("--sandbox", ({ sandbox }) => sandbox),
  settled: payments(["settled"]),
  recent: payments(["recent"]),
  processing: payments(["processing"]),
  failed: payments(["failed"]),
  covered: payments(["covered"]),
  refund: payments(["refund"]),
  /** Any payment of the merchant. */
  payment: payments(["recent", "processing", "settled", "failed", "covered", "refund"]),
  /** A payment with money left to refund. */
  refundable: payments(["recent", "processing", "settled"]),
  /** A payment whose refunds fail, so that large amounts move no money. */
  unrefundable: payments(["failed", "covered", "refund"]),
} as const satisfies Record<string, Precondition>;
