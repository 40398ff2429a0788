import { randomUUID } from "node:crypto";
import { type Dialect, Kysely } from "kysely";
import { createRefundId } from "../../../../server/domain/ids.ts";
import { firstStatus } from "../../../../server/domain/refunds.ts";
import type { Tables } from "../../../../server/storage/database/tables.ts";
import { loadOriginal, saveRefund } from "../../../helpers/store-factories.ts";

/** A statement as the server sends it. */
export type Statement = {
  text: string;
  values: unknown[];
};

/** The statements of one refund, in order, and a function that creates those of the next. */
export async function captureRefund(dialect: Dialect, paymentId: string): Promise<() => Statement[]> {
  const captured: Statement[] = [];
  const db = new Kysely<Tables>({
    dialect,
    log: ({ query }) => {
      captured.push({ text: query.sql, values: [...query.parameters] });
    },
  });
  const payment = { merchant: "acme", paymentId };
  const { original } = await loadOriginal(db, payment);
  if (!original) throw new Error("the payment is not there");
  const refundId = createRefundId();
  const requestKey = randomUUID();
  const now = new Date();
  const amountCents = 1;
  const decision = firstStatus(original, amountCents, { now });
  const refund = {
    ...payment,
    original,
    decision,
    amountCents,
    requestKey,
    now,
    clientReferenceId: "order-1042",
  };
  await saveRefund(db, { ...refund, paymentId: refundId, softDescriptor: null });

  return () => {
    const fresh = { [refundId]: createRefundId(), [requestKey]: randomUUID() };
    return captured.map(({ text, values }) => ({ text, values: values.map((value) => renew(value, fresh)) }));
  };
}

/**
 * Runs the statements of a refund in order, and rejects when they saved none, because then the comparison would be
 * meaningless.
 */
export async function runRefund(
  statements: readonly Statement[],
  run: (statement: Statement, part: number) => Promise<unknown[]>,
): Promise<void> {
  let last: unknown;
  for (const [part, statement] of statements.entries()) last = (await run(statement, part))[0];
  if ((last as { saved?: string[] }).saved?.length !== 1) throw new Error("the statements saved no refund");
}

const EVENT_ID = /evt_[0-9a-f-]{36}/g;

/** Ids are new for each refund, including those inside its row and the event's text. */
function renew(value: unknown, fresh: Readonly<Record<string, string>>): unknown {
  if (typeof value !== "string") return value;
  const renewed = value.replaceAll(EVENT_ID, () => `evt_${randomUUID()}`);
  return Object.entries(fresh).reduce((text, [old, now]) => text.replaceAll(old, now), renewed);
}
