import {
  type AnswerRow,
  amount,
  breaks,
  closed,
  keeps,
  refundErrorDetails,
  returnedReference,
  text,
} from "./message.ts";
import { EXISTING, problem } from "./problem.ts";

const duplicate = problem("issueRefund", 409);
const ofFailed = {
  ...EXISTING,
  paymentStatus: "TERMINAL_FAILED",
  errorDetails: { errorCode: "x", errorMessage: "x" },
};
const [failed = duplicate] = keeps(duplicate, "/existing", { "is a failed refund": ofFailed });
const [ofPayment = duplicate] = keeps(duplicate, "/existing", { "is a payment": { paymentId: "pay_1" } });
const PARTS = ["clientReferenceId", "originalPaymentId", "amount"] as const;

/** The record that holds the key already: a refund with all of its parts, or a payment with none. */
export const duplicateRows: readonly AnswerRow[] = [
  failed,
  ofPayment,
  ...closed(duplicate, "/existing", ["paymentId", "paymentStatus", ...PARTS]),
  ...text(duplicate, "/existing/paymentId", { max: 64 }),
  ...text(duplicate, "/existing/originalPaymentId", { max: 64 }),
  ...amount(duplicate, "/existing/amount"),
  ...returnedReference(duplicate, "/existing/clientReferenceId"),
  ...keeps(duplicate, "/existing/paymentStatus", { "is AUTHORIZED": "AUTHORIZED" }),
  ...breaks(duplicate, "/existing/paymentStatus", {
    "is OTHER": "OTHER",
    "is TERMINAL_FAILED without errorDetails": "TERMINAL_FAILED",
  }),
  ...breaks(duplicate, "/existing/errorDetails", { "is there": ofFailed.errorDetails }),
  ...breaks(ofPayment, "/existing/errorDetails", { "is there": ofFailed.errorDetails }),
  ...refundErrorDetails(failed, "/existing/errorDetails"),
  // A payment has no part of a refund, and a refund has all.
  ...["paymentStatus", ...PARTS].flatMap((name) =>
    breaks(ofPayment, `/existing/${name}`, {
      "is all of the refund": EXISTING[name as keyof typeof EXISTING],
    }),
  ),
];
