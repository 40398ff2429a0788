import { randomUUID } from "node:crypto";

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
