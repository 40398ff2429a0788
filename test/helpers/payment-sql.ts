import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect } from "vitest";
import type { Db } from "../../server/storage/database/tables.ts";

type RefundRow = { readonly of: string; readonly cents: number; readonly status?: string };

/** The text of a statement that adds refunds without asking whether the payments allow them. */
export function refundInsert(merchant: string, refunds: readonly RefundRow[]): string {
  const rows = refunds.map(({ of, cents, status = "AUTHORIZED" }) => {
    const error = status === "TERMINAL_FAILED" ? "'X', 'X'" : "null, null";
    return `('rfd_${randomUUID()}', '${merchant}', 'REFUND', '${status}', ${cents}, '${randomUUID()}', '${of}',
      ${error}, '[{"status": "${status}"}]', 1, now())`;
  });
  return `insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, original_payment_id,
    error_code, error_message, history, sequence, created_at) values ${rows.join(", ")}`;
}

/** Runs a statement, and says whether the database accepted it; fails if it was refused for another reason than its values. */
export async function accepts(db: Db, statement: string): Promise<boolean> {
  try {
    await sql.raw(statement).execute(db);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(23514|23503)$/) });
    return false;
  }
}

/** Changes a status with all that the table's own checks connect with it. */
export const statusChange = (paymentId: string, to: string) => `
  update payments set status = '${to}', history = history || '{"status": "${to}"}',
    settled_at = case when kind = 'DEBIT' then coalesce(settled_at, now()) end,
    error_code = case when '${to}' = 'TERMINAL_FAILED' then 'X' end,
    error_message = case when '${to}' = 'TERMINAL_FAILED' then 'X' end
  where payment_id = '${paymentId}'`;
