/** The options that checks need, such as a second merchant's token; without them, a check is not run. */
import {
  type Check as AnyCheck,
  type CheckParts as AnyParts,
  type Precondition as AnyPrecondition,
  defineGroup as define,
  given,
} from "../reporting/check.ts";
import type { Kit } from "./kit.ts";
import type { ConformOptions, PaymentKind } from "./options.ts";

/** One thing that users of the service rely on. */
export type Check = AnyCheck<ConformOptions, Kit>;
export type CheckParts = AnyParts<ConformOptions, Kit>;

export const defineGroup = define<ConformOptions, Kit>;

export type Precondition = AnyPrecondition<ConformOptions>;

const payments = (...kinds: readonly PaymentKind[]): Precondition => ({
  option: `--payments ${kinds.map((kind) => `${kind}=…`).join(" or ")}`,
  isMet: ({ payments }) => kinds.some((kind) => payments[kind] !== undefined),
});

export const PRECONDITIONS = {
  token: given("token"),
  otherToken: given("otherToken"),
  secondToken: given("secondToken"),
  unscopedToken: given("unscopedToken"),
  paymentKey: given("paymentKey"),
  receiver: given("receiver"),
  settled: payments("settled"),
  recent: payments("recent"),
  processing: payments("processing"),
  failed: payments("failed"),
  covered: payments("covered"),
  refund: payments("refund"),
  /** Any payment of the merchant. */
  payment: payments("recent", "processing", "settled", "failed", "covered", "refund"),
  /** A payment with money left to refund. */
  refundable: payments("recent", "processing", "settled"),
  /** A payment whose refunds fail, so that large amounts move no money. */
  unrefundable: payments("failed", "covered", "refund"),
} as const satisfies Record<string, Precondition>;

/** For groups whose checks all need a valid token. */
export const WITH_TOKEN = { preconditions: [PRECONDITIONS.token] };
