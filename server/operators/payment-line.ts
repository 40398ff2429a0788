import type { ContractDocument } from "../contract/document.ts";
import { toCents } from "../domain/money.ts";
import { createLineParser, type LineError } from "./json-line.ts";
import type { CoverLine, FailLine, PaymentLine as ReceivedLine } from "./line-schemas.ts";

type Named = Pick<FailLine, "merchant" | "paymentId">;

/** A change of an original payment by the payment system (D25), in the terms of the domain. */
export type PaymentLine =
  | (Named & {
      readonly op: "put";
      readonly amountCents: number;
      readonly requestKey: string | null;
      readonly clientReferenceId: string | null;
    })
  | (Named & { readonly op: "settle"; readonly settledAt: Date })
  | FailLine
  | CoverLine;

export type ParsePaymentLine = (bytes: Buffer) => PaymentLine | LineError;

/** Reads lines that are valid by the schema `PaymentLine`. */
export function createPaymentLineParser(document: ContractDocument): ParsePaymentLine {
  const parse = createLineParser<ReceivedLine>(document, "PaymentLine", { withAmount: "PutLine" });
  return (bytes) => {
    const parsed = parse(bytes);
    return "error" in parsed ? parsed : toPaymentLine(parsed.value);
  };
}

function toPaymentLine(line: ReceivedLine): PaymentLine {
  if (line.op === "settle") return { ...line, settledAt: new Date(line.settledAt) };
  if (line.op !== "put") return line;
  const { amount, requestKey = null, clientReferenceId = null, ...name } = line;
  return { ...name, amountCents: toCents(amount.value), requestKey, clientReferenceId };
}
