import { type Kysely, sql } from "kysely";

const statements = [
  `create table deployment (
    single_row boolean primary key default true check (single_row),
    mode text not null check (mode in ('sandbox', 'production'))
  )`,

  // Unlogged, because it is written often, and after a crash every merchant may begin with a full bucket.
  `create unlogged table rate_limits (
    merchant text collate "C" primary key,
    full_at timestamptz not null
  )`,

  // For operators, who list exhausted deliveries; the table itself never shrinks.
  "create index deliveries_exhausted on deliveries (webhook_id desc) where state = 'EXHAUSTED'",
] as const;

export const production = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
