import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../../server/storage/database/database.ts";
import { isUnavailable } from "../../../../server/storage/database/database-errors.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { startSilentProxy } from "../../../helpers/network/silent-database-proxy.ts";
import { begin } from "../../../helpers/postgres.ts";
import { until } from "../../../helpers/receiver.ts";
import { forEachTest } from "../../../helpers/suite.ts";

/** What is to be done in time has seconds, for a busy machine. */
const LIMITS = { connectMs: 10_000, statementMs: 2_000, backgroundMs: 120_000 };
/** The time after which a statement without any response is abandoned. */
const SILENT_MS = LIMITS.statementMs + 1_000;
const IN_TIME = { timeout: 120_000, interval: 20 };

describe("time limits on postgres", () => {
  const stored = forEachTest(() => createTestDatabase("postgres"));
  const open = (url = stored.url) => openDatabase({ databaseUrl: url, dataDir: "unused", limits: LIMITS });

  test("end a slow statement of a call, but not of the background", async () => {
    const { db, background, close } = await open();
    const long = sql`select pg_sleep(2.5)`;

    const cut = await long.execute(db).catch((error: unknown) => error);
    await long.execute(background);
    await close();

    expect(cut).toMatchObject({ code: "57014" });
    expect(isUnavailable(cut)).toBe(true);
  });

  test("do not end a migration that has to wait", async () => {
    const other = await open();
    const { client } = await begin(stored.url);
    await client.query("lock table kysely_migration in access exclusive mode");

    const opening = open();
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and now() - query_start > interval '2500 ms'`.execute(other.db);
      return rows[0];
    });
    await client.end();
    const database = await opening;

    await database.readTime();
    await Promise.all([database.close(), other.close()]);
  });

  test("close a silent connection with its transaction, and no later statement uses it", async () => {
    await using proxy = await startSilentProxy(stored.url);
    const { db, close, readTime } = await open(proxy.url);
    await readTime();
    const startedAt = performance.now();

    const failed = db
      .transaction()
      .execute(async (transaction) => {
        await sql`insert into clock (offset_ms) values (5)`.execute(transaction);
        proxy.silence();
        await sql`select 1`.execute(transaction);
      })
      .catch((error: unknown) => error);

    expect(isUnavailable(await failed)).toBe(true);
    // The rollback did not wait for the same time again.
    expect(performance.now() - startedAt).toBeLessThan(2 * SILENT_MS);
    proxy.speak();
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await expect.poll(() => db.selectFrom("clock").selectAll().execute(), IN_TIME).toEqual([]);
    await close();
  });
});
