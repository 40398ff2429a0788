import type { RefundStatus } from "../../../client/src/index.ts";
import { expectRefund } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import type { PaymentKind } from "../options.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, refundOf } from "../valid-requests.ts";

type Row = {
  readonly kind: PaymentKind;
  readonly payment: string;
  readonly paymentStatus: RefundStatus;
  readonly errorCode?: string;
  readonly sources: readonly string[];
};

/** The table of states, row by row: the first status of a refund. */
const ROWS: readonly Row[] = [
  {
    kind: "settled",
    payment: "that settled three business days ago or more",
    paymentStatus: "AUTHORIZED",
    sources: ["6.4", "7.4", "D05", "D16"],
  },
  {
    kind: "recent",
    payment: "that settled less than three business days ago",
    paymentStatus: "PENDING",
    sources: ["6.3", "12.4", "D05", "D16"],
  },
  {
    kind: "processing",
    payment: "that is still processing",
    paymentStatus: "PENDING",
    sources: ["6.3", "7.4", "D05"],
  },
  {
    kind: "failed",
    payment: "whose debit failed",
    paymentStatus: "TERMINAL_FAILED",
    errorCode: "CUSTOMER_NOT_DEBITED",
    sources: ["6.5", "6.2", "11.1", "11.2", "3.4", "D02", "D05"],
  },
  {
    kind: "covered",
    payment: "that fell into the service's cover",
    paymentStatus: "TERMINAL_FAILED",
    errorCode: "PAYMENT_COVERED",
    sources: ["6.7", "11.1", "D12"],
  },
  {
    kind: "refund",
    payment: "that is itself a refund",
    paymentStatus: "TERMINAL_FAILED",
    errorCode: "PAYMENT_NOT_REFUNDABLE",
    sources: ["6.5", "11.1", "D12"],
  },
];

export const FIRST_STATUS_CHECKS: Check[] = defineGroup(
  "First status",
  WITH_TOKEN,
  ROWS.map(({ kind, payment, sources, ...expected }) => ({
    id: `first-status.${kind}`,
    name: `responds with 201 ${expected.paymentStatus} to a refund of a payment ${payment}`,
    sources,
    preconditions: [PRECONDITIONS[kind]],
    async run(kit) {
      const paymentId = kit.options.payments[kind];
      expectRefund(await issue(kit, refundOf(kit, { paymentId })), expected);
    },
  })),
);
