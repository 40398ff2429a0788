import { sql } from "kysely";
import type { Store } from "./tables.ts";

export type Mode = "sandbox" | "production";

/**
 * The mode that a database is used in. The first server that starts on it decides, for good: a sandbox's clock and its public
 * tokens must never meet real payments.
 */
export async function claimMode(store: Store, mode: Mode): Promise<Mode> {
  const { rows } = await sql<{ mode: Mode }>`
    insert into deployment as known (mode) values (${mode})
    on conflict (single_row) do update set mode = known.mode
    returning mode`.execute(store);
  return rows[0]?.mode ?? mode;
}
