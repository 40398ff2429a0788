import { sql } from "kysely";

/**
 * The texts of a payment record that merchants choose freely, read as they were written. As JSON, because the driver of the
 * embedded store takes U+FEFF at the beginning of a text for a byte order mark and drops it.
 */
export const exactTexts = [
  sql<string | null>`to_jsonb(client_reference_id)`.as("client_reference_id"),
  sql<string | null>`to_jsonb(request_key)`.as("request_key"),
] as const;

/** The same of a refund's reference alone, in a statement that is written as SQL. */
export const exactReference = sql`to_jsonb(client_reference_id) as client_reference_id`;
