import { type RawBuilder, sql } from "kysely";

/** The tables and values of a query over the rows of all merchants, as an engine writes them. */
export type QueryParts = {
  readonly payments: RawBuilder<unknown>;
  readonly subscriptions: RawBuilder<unknown>;
  readonly deliveries: RawBuilder<unknown>;
  readonly events: RawBuilder<unknown>;
  readonly payoutsWaiting: RawBuilder<unknown>;
  value(value: string | number | boolean | Date): RawBuilder<unknown>;
  list(texts: readonly string[]): RawBuilder<unknown>;
};

/** The whole tables, with parameters. */
export const WHOLE_TABLES: QueryParts = {
  payments: sql`payments`,
  subscriptions: sql`subscriptions`,
  deliveries: sql`deliveries`,
  events: sql`events`,
  payoutsWaiting: sql`payouts_waiting`,
  value: (value) => sql`${value}`,
  list: (texts) => sql`${texts}::text[]`,
};
