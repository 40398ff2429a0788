import { type RawBuilder, sql } from "kysely";

/** No merchant has an empty name, so it can stand for all of them. */
export const ALL = "";

/** The condition that refunds of a merchant are held. */
export function isHeld(merchant: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select from holds where holds.merchant in (${sql.lit(ALL)}, ${merchant}))`;
}
