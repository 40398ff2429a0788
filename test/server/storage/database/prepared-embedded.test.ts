import { Kysely, PGliteDialect, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { openEmbedded } from "../../../../server/storage/database/embedded.ts";
import { toPreparedPGlite } from "../../../../server/storage/database/prepared-embedded.ts";
import { makeDataDir } from "../../../helpers/databases.ts";
import { forSuite } from "../../../helpers/suite.ts";

const TIMES = 4;

describe("prepared statements of the embedded store", () => {
  const store = forSuite(async () => {
    const { pglite, unlock } = await openEmbedded(await makeDataDir());
    const db = new Kysely<object>({ dialect: new PGliteDialect({ pglite: toPreparedPGlite(pglite) }) });
    return { db, pglite, [Symbol.asyncDispose]: () => db.destroy().then(unlock) };
  });

  async function repeated<Result>(run: () => Promise<Result>): Promise<Result[]> {
    const results: Result[] = [];
    for (let time = 0; time < TIMES; time += 1) results.push(await run());
    return results;
  }

  async function preparedTexts(): Promise<string[]> {
    const { rows } = await store.pglite.query<{ statement: string }>(
      "select statement from pg_prepared_statements",
    );
    return rows.map(({ statement }) => statement);
  }

  const texts = [
    "it's",
    "\\",
    "\\'; drop table payments; --",
    '"{,}"',
    "NULL",
    "null",
    "",
    " ",
    "\n",
    "🔑 é",
    "$1",
    "\uFEFFx",
  ];

  test.each(texts)("take the text %j as it is, alone and in a list", async (text) => {
    const read = async () => {
      const list = [text, null, "b"];
      const { rows } = await sql<{ one: string; all: string }>`
        select to_json(${text}::text)::text as one, to_json(${list}::text[])::text as all`.execute(store.db);
      return [JSON.parse(rows[0]?.one ?? ""), JSON.parse(rows[0]?.all ?? "")];
    };

    expect(await repeated(read)).toEqual(Array(TIMES).fill([text, [text, null, "b"]]));
  });

  test("take values of every type that is stored, and return the same rows as before", async () => {
    const now = new Date("2026-11-16T15:00:00.123Z");
    const bytes = Uint8Array.from([0, 39, 92, 255]);
    const read = async () => {
      const { rows } = await sql`
        select ${now}::timestamptz as at, ${bytes}::bytea as bytes, ${true}::boolean as yes, ${9_007_199_254_740_991}::bigint as big,
          ${-1.5}::float8 as fraction, ${null}::text as nothing, ${[1, 2]}::integer[] as numbers, ${[]}::text[] as none,
          ${[false]}::boolean[] as flags`.execute(store.db);
      return rows[0];
    };

    const row = { at: now, bytes, yes: true, big: 9_007_199_254_740_991, fraction: -1.5 };
    expect(await repeated(read)).toEqual(
      Array(TIMES).fill({ ...row, nothing: null, numbers: [1, 2], none: [], flags: [false] }),
    );
    expect((await preparedTexts()).filter((text) => text.includes("as fraction"))).toHaveLength(1);
  });

  test("are shared by transactions, and are prepared once when several ask at once", async () => {
    const read = (one: Kysely<object>) => sql<{ n: number }>`select ${1}::integer as n`.execute(one);

    const results = await Promise.all([
      ...Array.from({ length: 5 }, () => read(store.db)),
      ...Array.from({ length: 5 }, () => store.db.transaction().execute(read)),
    ]);
    await read(store.db);

    expect(results.map(({ rows }) => rows)).toEqual(Array(10).fill([{ n: 1 }]));
    expect((await preparedTexts()).filter((text) => text.includes("integer as n"))).toHaveLength(1);
  });

  test("are prepared again when a table that they read has changed", async () => {
    await sql`create table things (a integer)`.execute(store.db);
    const read = () => sql`select * from things where a > ${0}::integer`.execute(store.db);
    await repeated(read);
    await sql`alter table things add column b integer`.execute(store.db);
    await sql`insert into things values (1, 2)`.execute(store.db);

    await expect(read()).rejects.toThrow("cached plan must not change result type");

    expect((await repeated(read)).map(({ rows }) => rows)).toEqual(Array(TIMES).fill([{ a: 1, b: 2 }]));
  });
});
