import type { ContractDocument } from "../contract/document.ts";
import { fromCents, toCents } from "../domain/money.ts";
import type { Payout } from "../storage/payments/payouts.ts";
import type { KnownRefund } from "../storage/payments/reconcile.ts";
import { createLineParser, type LineError } from "./json-line.ts";
import type { PayoutLine } from "./line-schemas.ts";

/** An authorized refund as the payment system gets it. */
export function toPayoutLine({ amountCents, authorizedAt, ...payout }: Payout): PayoutLine {
  return {
    ...payout,
    amount: { currency: "USD", value: fromCents(amountCents) },
    status: "AUTHORIZED",
    authorizedAt: authorizedAt.toISOString(),
  };
}

/** Reads lines that are valid by the schema `PayoutLine`. */
export function createPayoutLineParser(
  document: ContractDocument,
): (bytes: Buffer) => KnownRefund | LineError {
  const parse = createLineParser<PayoutLine>(document, "PayoutLine");
  return (bytes) => {
    const parsed = parse(bytes);
    return "error" in parsed ? parsed : toKnownRefund(parsed.value);
  };
}

function toKnownRefund({ cursor: _, amount, authorizedAt, ...line }: PayoutLine): KnownRefund {
  const { clientReferenceId = null, softDescriptor = null } = line;
  const time = new Date(authorizedAt);
  return {
    ...line,
    clientReferenceId,
    softDescriptor,
    amountCents: toCents(amount.value),
    authorizedAt: time,
  };
}
