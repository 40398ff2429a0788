import type { Command } from "commander";
import { fromCents } from "../domain/money.ts";
import { traceIdOf } from "../domain/trace-context.ts";
import type { Db } from "../storage/database/tables.ts";
import {
  getPayment,
  type IssuingCall,
  listPayments,
  readIssuingCalls,
} from "../storage/payments/payment-queries.ts";
import type { PaymentRecord } from "../storage/payments/payment-record.ts";
import type { RunWork } from "./context.ts";
import { limitOption } from "./context.ts";
import { type Cell, type Output, toTable } from "./output.ts";

/** Defines the command that shows one payment or refund. */
export function definePaymentDetails(payments: Command, run: RunWork): void {
  payments
    .command("show")
    .description("show a payment with its refunds, or a refund, and who issued them")
    .argument("<paymentId>")
    .requiredOption("--merchant <merchant>")
    .addOption(limitOption())
    .action((paymentId: string, choice: { merchant: string; limit: number }) =>
      run(async ({ database: { db }, output }) => showPayment({ db, output }, { paymentId, ...choice })),
    );
}

type Choice = { merchant: string; paymentId: string; limit: number };

/** @returns whether the merchant has the payment */
async function showPayment({ db, output }: { db: Db; output: Output }, choice: Choice): Promise<boolean> {
  const payment = await getPayment(db, choice);
  if (!payment) {
    output.print(`${choice.merchant} has no payment ${choice.paymentId}`);
    return false;
  }
  const { merchant, paymentId, limit } = choice;
  const page = await listPayments(db, { merchant, originalPaymentId: paymentId, limit });
  const refunds = page === "invalid-cursor" ? [] : page.payments;
  const shown = [payment, ...refunds].map((record) => record.paymentId);
  const calls = await readIssuingCalls(db, { merchant, paymentIds: shown });

  for (const line of toTable(["field", "value"], toFields(payment, calls.get(paymentId)))) output.print(line);
  if (refunds.length === 0) return true;
  const rows = refunds.map((refund) => toRow(refund, calls.get(refund.paymentId)));
  output.print("");
  for (const line of toTable(REFUND_HEADINGS, rows)) output.print(line);
  if (refunds.length === limit) output.complain("There may be more: raise --limit");
  return true;
}

function toFields(payment: PaymentRecord, call: IssuingCall | undefined): [string, Cell][] {
  const { paymentId, merchant, kind, status, requestKey, clientReferenceId, createdAt, history } = payment;
  const common: [string, Cell][] = [
    ...Object.entries({ paymentId, merchant, kind, status, amount: toDollars(payment) }),
    ...Object.entries({ requestKey, clientReferenceId, created: createdAt.toISOString() }),
    ...history.map((entry): [string, Cell] => ["became", `${entry.status} at ${entry.at}`]),
  ];
  if (payment.kind === "DEBIT")
    return [...common, ["refunded", toDollars({ amountCents: payment.refundedCents })]];
  const { originalPaymentId, softDescriptor, dueAt, failure } = payment;
  const issuer = call?.caller;
  return [
    ...common,
    ["refund of", originalPaymentId],
    ["softDescriptor", softDescriptor],
    ["due", dueAt?.toISOString() ?? null],
    ["error", failure?.errorCode ?? null],
    ["issued by", issuer?.subject ?? null],
    ["by client", issuer?.clientId ?? null],
    ["with token", issuer?.tokenId ?? null],
    ["from", issuer?.address ?? null],
    ["trace", traceIdOf(call?.trace) ?? null],
  ];
}

const REFUND_HEADINGS = [
  "refund",
  "status",
  "amount",
  "created",
  "issued by",
  "by client",
  "with token",
  "from",
  "trace",
];

function toRow(refund: PaymentRecord, call: IssuingCall | undefined): Cell[] {
  const { paymentId, status, createdAt } = refund;
  const { subject = null, clientId = null, tokenId = null, address = null } = call?.caller ?? {};
  const cells = [paymentId, status, toDollars(refund), createdAt.toISOString(), subject, clientId, tokenId];
  return [...cells, address, traceIdOf(call?.trace) ?? null];
}

function toDollars({ amountCents }: { amountCents: number }): string {
  return `${fromCents(amountCents).toFixed(2)} USD`;
}
