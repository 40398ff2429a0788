import { sql } from "kysely";
import type { Db } from "../../server/storage/database/tables.ts";

/** Every row of every table in every schema as text; bytes are hexadecimal digits in it. */
export async function dumpDatabase(db: Db): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const names = tables.map(({ name }) => name);
  for (const expected of ["public.subscriptions", "public.events"]) {
    if (!names.includes(expected)) throw new Error(`no table ${expected} among ${names.join(", ")}`);
  }
  const texts = await Promise.all(
    names.map(async (name) => {
      const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.raw(name)} t`.execute(
        db,
      );
      return [name, ...rows.map(({ text }) => text)].join("\n");
    }),
  );
  return texts.join("\n");
}

/** The forms in which a secret could have been written somewhere. */
export function formsOf(secret: string | Buffer): string[] {
  const bytes = Buffer.from(secret);
  const encoded = (["hex", "base64", "base64url"] as const).map((form) => bytes.toString(form));
  if (typeof secret !== "string") return [...encoded, bytes.toString("latin1")];
  return [...encoded, secret, encodeURIComponent(secret)];
}
