import { sql } from "kysely";
import type { Database } from "../../../server/storage/database.ts";

/** A refund is authorized within five seconds of its date (D16); on a busy machine the scan of each second may come later. */
export const PROMPT = { timeout: 30_000, interval: 20 };

/** Makes the database refuse events of this type until the returned function is called. */
export async function refuseEvents({ db }: Database, type: string): Promise<() => Promise<void>> {
  await sql`
    create function refuse_event() returns trigger language plpgsql as $$
      begin raise exception 'refused by the test'; end $$`.execute(db);
  await sql`
    create trigger refuse before insert on events for each row
      when (new.type = ${sql.lit(type)}) execute function refuse_event()`.execute(db);
  return async () => {
    await sql`drop function refuse_event cascade`.execute(db);
  };
}
