import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Link,
  prepareRecord,
  type RecordEntry,
  recordAdminAction,
  verifyChain,
} from "../../../server/operators/statements/audit-record.ts";
import type { Db } from "../../../server/storage/database/db-types.ts";
import { runCommand } from "../../helpers/admin-command.ts";
import { createTestDatabase, useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";
import { query, runStatement } from "../../helpers/postgres.ts";

const ACTION = {
  runId: crypto.randomUUID(),
  note: "jane",
  command: ["deliveries"],
  outcome: "begun",
} as const;

/** An empty database, and commands on it. */
async function createEmpty() {
  const database = await createTestDatabase("postgres", { empty: true });
  const url = database.url;
  const run = (args: readonly string[], stdin = "") =>
    runCommand(args, { env: { DATABASE_URL: url, ADMIN_OPERATOR: "jane" }, stdin });
  const list = async () => {
    const rows = await query<{ entry: RecordEntry }>(
      url,
      "select entry from admin_actions order by number desc",
    );
    return rows.map(({ entry }) => entry);
  };
  return { url, run, list, [Symbol.asyncDispose]: () => database.remove() };
}

describe("the record of what operators did", () => {
  test("has who ran which command, from where, and how it ended, as does the log", async () => {
    await using database = await createEmpty();
    const commands = [
      ["migrate"],
      ["deliveries", "--merchant", "acme"],
      ["subscription", "disable", "sub_unknown"],
      ["rotate-key"],
    ];

    const logged: { head: string; runId: string }[] = [];
    for (const command of commands) {
      const { log } = await database.run(command);
      logged.push(...log.map((line) => JSON.parse(line)));
    }

    const outcomes = ["begun", "succeeded", "begun", "succeeded", "begun", "refused", "begun", "failed"];
    const expected = outcomes.map((outcome, index) => ({
      operator: "postgres",
      note: "jane",
      command: commands[Math.floor(index / 2)],
      outcome,
    }));
    expect(logged).toMatchObject(expected);
    const written = (await database.list()).toReversed();
    expect(written).toMatchObject(
      expected.map((row, index) => ({
        ...row,
        number: index + 1,
        address: "127.0.0.1",
        runId: logged[index]?.runId,
      })),
    );
    expect(written.map(({ at }) => at)).toEqual(
      written.map(() => expect.stringMatching(/^20\d\d-.*\.\d{6}Z$/)),
    );
    expect(new Set(written.map(({ runId }) => runId)).size).toBe(4);
    for (const { head } of logged)
      expect(await database.run(["audit", "verify", "--head", head])).toMatchObject({ code: 0 });
  });
});

describe.each(engines)("the chain of the record on %s", (engine) => {
  const database = useDatabase(engine);
  beforeAll(async () => {
    const { db } = database;
    await Promise.all([prepareRecord(db), prepareRecord(db)]);
    await Promise.all(Array.from({ length: 8 }, () => recordAdminAction(db, ACTION)));
  });

  const verify = async (store: Db, kept?: Link) => {
    const errors: string[] = [];
    return { errors, head: await verifyChain(store, { kept, onError: (error) => errors.push(error) }) };
  };

  test.each(["update admin_actions set hash = hash", "delete from admin_actions", "truncate admin_actions"])(
    "can't be changed by the tables' owner while the trigger is on (%s)",
    async (change) => {
      await expect(sql.raw(change).execute(database.db)).rejects.toThrow("only grows");
    },
  );

  const TEXT = "(select entry::text from admin_actions where number = 3)";
  const NOT_AS_WRITTEN = (number: number) => `row ${number}, or the one before it, is not as it was written`;
  test.each<[change: string, statement: string, errors: readonly string[]]>([
    [
      "a text",
      `update admin_actions set entry = replace(${TEXT}, 'jane', 'john')::json where number = 3`,
      [NOT_AS_WRITTEN(3)],
    ],
    [
      "the layout of a text",
      `update admin_actions set entry = (${TEXT} || ' ')::json where number = 3`,
      [NOT_AS_WRITTEN(3)],
    ],
    [
      "a hash",
      "update admin_actions set hash = repeat('a', 64) where number = 3",
      [NOT_AS_WRITTEN(3), NOT_AS_WRITTEN(4)],
    ],
    [
      "a text with its hash",
      `update admin_actions a set entry = '{"number":3}', hash = encode(sha256(convert_to(
      (select hash from admin_actions where number = 2) || '{"number":3}', 'UTF8')), 'hex') where number = 3`,
      [NOT_AS_WRITTEN(4)],
    ],
    ["a row that is gone", "delete from admin_actions where number = 3", ["row 3 is missing"]],
    ["rows that are gone", "delete from admin_actions where number in (3, 4)", ["rows 3 to 4 are missing"]],
    ["the first row gone", "delete from admin_actions where number = 1", ["row 1 is missing"]],
    [
      "rows that were exchanged",
      `update admin_actions a set entry = b.entry, hash = b.hash from admin_actions b
      where a.number + b.number = 7 and a.number in (3, 4)`,
      [NOT_AS_WRITTEN(3), NOT_AS_WRITTEN(4), NOT_AS_WRITTEN(5)],
    ],
    [
      "rows with the numbers of others",
      `update admin_actions a set entry = b.entry, hash = encode(sha256(convert_to(
      (select hash from admin_actions where number = 7) || b.entry::text, 'UTF8')), 'hex') from admin_actions b
      where a.number = 8 and b.number = 3`,
      [NOT_AS_WRITTEN(8), "row 8 is not the one with the hash that was kept"],
    ],
    [
      "a row before the first",
      `insert into admin_actions values (0, '{"number":0}', repeat('0', 64))`,
      ["row 0 does not belong to the chain"],
    ],
    [
      "the last row gone",
      "delete from admin_actions where number = 8",
      ["row 8, the head that was kept, is missing"],
    ],
    ["all rows gone", "delete from admin_actions", ["row 8, the head that was kept, is missing"]],
  ])("shows %s", async (_, statement, expected) => {
    const { head } = await verify(database.db);
    let found: readonly string[] = [];
    const undo = new Error("undo");
    const work = database.db.transaction().execute(async (transaction) => {
      await sql`alter table admin_actions disable trigger all`.execute(transaction);
      await sql.raw(statement).execute(transaction);
      found = (await verify(transaction, head)).errors;
      throw undo;
    });

    await expect(work).rejects.toBe(undo);
    expect(found).toEqual(expected);
  });
});

test("admin audit verify names what was changed, prints the head, and exits with 1", async () => {
  await using database = await createEmpty();
  await database.run(["migrate"]);
  const before = await database.run(["audit", "verify"]);

  await runStatement(
    database.url,
    `alter table admin_actions disable trigger all; update admin_actions set hash = repeat('a', 64) where number = 1`,
  );
  const after = await database.run(["audit", "verify"]);

  expect([before.code, after.code]).toEqual([0, 1]);
  expect(before.stdout).toMatch(/^3 rows, as they were written\nhead 3:[0-9a-f]{64}\n$/);
  expect(before.stderr).toMatch(/^postgres can log in and write the record anew: see/);
  expect(after.stdout).toMatch(/^row 1, or .*\nrow 2, or .*\n5 rows, 2 errors\nhead 5:[0-9a-f]{64}\n$/);
});
