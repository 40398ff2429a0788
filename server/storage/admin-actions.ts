import { sql } from "kysely";
import type { Store } from "./database/tables.ts";

/** One of the two rows that each run of an admin command writes: one when it begins, and one when it has ended. */
export type AdminAction = {
  /** The same in both rows. */
  readonly runId: string;
  /** Who ran it, as far as the command knows; the row also names the database role. */
  readonly operator: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly outcome: "begun" | "succeeded" | "refused" | "failed";
};

/** Adds a row to the record of what operators did. No row of it is ever changed or removed. */
export async function recordAdminAction(
  store: Store,
  { runId, operator, command, outcome }: AdminAction,
): Promise<void> {
  await sql`insert into admin_actions (run_id, operator, command, outcome)
    values (${runId}::uuid, ${operator}, ${[...command]}::text[], ${outcome})`.execute(store);
}
