/** The checks of the payment that a refund names: unknown, another merchant's, and in each state. */
import type { RefundStatus } from "../../../client/src/index.ts";
import type { Exchange } from "../../reporting/exchange.ts";
import { assert, bodyOf, expectProblem, expectRefund } from "../assertions.ts";
import type { PaymentKind } from "../options.ts";
import { type Check, defineGroup, PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, paymentOf, refundOf } from "../valid-requests.ts";
import { casesCheck } from "./request-cases.ts";

export const PAYMENT_CHECKS: Check[] = defineGroup("Payments", WITH_TOKEN, [
  casesCheck(
    "payment.unknown",
    "responds with 404 to a payment that does not exist, whatever its id looks like",
    ["D08", "2.1"],
  ),
  {
    id: "payment.foreign",
    name: "responds to another merchant's payment as to one that does not exist",
    sources: ["D08"],
    preconditions: [PRECONDITIONS.payment, PRECONDITIONS.otherToken],
    async run(kit) {
      const token = kit.options.otherToken ?? null;
      const [known, none] = [paymentOf(kit), "pay_conform_unknown"];
      const foreign = await issue(kit, refundOf(kit, { paymentId: known }), { token });
      const unknown = await issue(kit, refundOf(kit, { paymentId: none }), { token });
      expectProblem(foreign, "PAYMENT_NOT_FOUND", "the payment is another merchant's");
      expectProblem(unknown, "PAYMENT_NOT_FOUND");
      // A response may name the payment of the call.
      const same = shown(foreign) === shown(unknown) || shown(foreign, known) === shown(unknown, none);
      assert(same, "the same response as to a payment that does not exist, but for its instance", foreign);
    },
  },
]);

/** The body of a response, without `instance`, which always differs, and without another text in it. */
function shown(exchange: Exchange, without = ""): string {
  return JSON.stringify({ ...bodyOf(exchange), instance: "" }, (_, value) =>
    typeof value === "string" ? value.replaceAll(without, "") : value,
  );
}

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
    payment: "that settled before the waiting period",
    paymentStatus: "AUTHORIZED",
    sources: ["6.4", "7.4", "D05", "D16"],
  },
  {
    kind: "recent",
    payment: "that settled within the waiting period",
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
