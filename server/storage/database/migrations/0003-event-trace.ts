import { type Kysely, sql } from "kysely";

/*
 * The trace of the call that caused an event, so that its deliveries can send it days later (D33). The check keeps out what could
 * not be a header. It is not validated, because that would read the whole table under a lock, and no row has a value yet.
 */
const statements = [
  "alter table events add column trace jsonb",
  `alter table events add constraint trace_fits check (trace is null or (
    coalesce(trace ->> 'traceparent', '') ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
    and coalesce(trace ->> 'tracestate', 'x') ~ '^[ -~]+$' and length(coalesce(trace ->> 'tracestate', '')) <= 512)) not valid`,
] as const;

export const eventTrace = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
