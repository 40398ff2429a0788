import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../helpers/admin.ts";
import { createTestDatabase, LATER, laterMigrations } from "../../helpers/databases.ts";
import { runProgram, SANDBOX, startServerProcess } from "../../helpers/process.ts";
import { doDailyWork, type RunAdmin } from "./setup/daily-work.ts";
import { record } from "./setup/figures.ts";
import { postgresEnv } from "./setup/lasting-store.ts";
import { checkOutReleaseBefore, type ReleaseBefore } from "./setup/release-before.ts";

let before: ReleaseBefore;
beforeAll(async () => {
  before = await checkOutReleaseBefore();
}, 600_000);
afterAll(() => before?.[Symbol.asyncDispose]());

/** Adds what a release may add: columns that may be empty or have a default, an index, a table, and what keeps them filled. */
const ADDITIONS = [
  "alter table payments add column region text",
  "alter table events add column region text not null default 'us'",
  "alter table subscriptions add column paused boolean not null default false",
  "alter table deliveries add column priority integer not null default 0 check (priority >= 0)",
  "create index deliveries_priority on deliveries (priority) where state = 'PENDING'",
  "create table regions (merchant text primary key, region text not null)",
  "update payments set region = 'us'",
];

/** A server of the release before on a database that it has migrated itself, and migrations by later releases. */
async function startBefore() {
  const database = await createTestDatabase("postgres", { empty: true });
  const env = postgresEnv(database.url);
  const server = await startServerProcess({
    command: SANDBOX,
    cwd: before.folder,
    env: { LOG_LEVEL: "silent", ...env },
  });
  const adminBefore: RunAdmin = async (args) => {
    const command = [process.execPath, "server/cli.ts", "admin", ...args];
    const { code, stdout, stderr } = await runProgram(command, { cwd: before.folder, env });
    return { code, stdout, stderr: stderr.replaceAll(/^\{.*\n/gm, "") }; // without the log
  };
  return {
    env,
    server,
    adminBefore,
    admin: ((args) => runCommand(args, { env })) satisfies RunAdmin,
    open: database.open,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database.remove();
    },
  };
}

test("servers and commands of the release before go on while later ones migrate", async () => {
  await using old = await startBefore();
  await doDailyWork(old.server, old.adminBefore);

  await using present = await startServerProcess({ env: { LOG_LEVEL: "silent", ...old.env } });
  await doDailyWork(old.server, old.admin);
  await doDailyWork(present, old.admin);

  const { db } = await old.open({ migrations: laterMigrations(ADDITIONS) });
  const refused = await old.adminBefore(["check"]);
  // So that commands run here which don't know this migration; those of its own release would.
  await sql`delete from kysely_migration where name = ${LATER}`.execute(db);
  await doDailyWork(old.server, old.admin);
  await doDailyWork(present, old.admin);

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/newer release/) });
  record(`servers of ${before.name} beside this release`, { "times all of a day's work": 5 });
});

test.each([
  ["a column is renamed", "alter table payments rename column client_reference_id to reference", "refunds"],
  ["a column is required", "alter table events add column region text not null", "refunds"],
  ["a column goes", "alter table deliveries drop column fence", "deliveries"],
  ["a table moves", "alter table blocks rename to blocked", "block"],
])("notices when %s, which takes from the release before what it needs", async (_name, statement, part) => {
  await using old = await startBefore();

  const { db } = await old.open({ migrations: laterMigrations([statement]) });
  await sql`delete from kysely_migration where name = ${LATER}`.execute(db);

  await expect(doDailyWork(old.server, old.admin)).rejects.toThrow(new RegExp(`^${part}: `));
});
