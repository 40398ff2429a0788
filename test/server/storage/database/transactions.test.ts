/** Transactions on the settings that the store needs, whatever the database's own settings are. */
import { type Kysely, sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../../../server/storage/database/database.ts";
import type { Tables } from "../../../../server/storage/database/db-types.ts";
import { recordAttempts } from "../../../../server/storage/webhooks/record-attempts.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { createDeployment, type Deployment } from "../../../helpers/deployment.ts";
import { type Problem, type Refund, refundOf } from "../../../helpers/factories.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import { post } from "../../../helpers/server.ts";
import {
  claim,
  createEvent,
  createSubscription,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";
import { forEachTest } from "../../../helpers/suite.ts";

/** Settings under which calls fail, hang, or lose what they acknowledged. */
const HOSTILE = {
  default_transaction_isolation: "repeatable read",
  statement_timeout: "0",
  lock_timeout: "1ms",
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "5s",
  datestyle: "SQL, DMY",
  synchronous_commit: "off",
  exit_on_error: "on",
  transaction_timeout: "5s",
};

describe("a database whose own settings are hostile", () => {
  const stored = forEachTest(() => createTestDatabase("postgres"));
  beforeEach(async () => {
    const name = new URL(stored.url).pathname.slice(1);
    for (const [setting, value] of Object.entries(HOSTILE))
      await runStatement(stored.url, `alter database ${name} set ${setting} = '${value}'`);
  });

  test("can't switch off isolation level and time limits on any connection", async () => {
    const { db, background, close } = await openDatabase(stored.options);

    const expected = { lock_timeout: "0", idle_session_timeout: "0", transaction_timeout: "0" };
    const ofCalls = {
      ...expected,
      synchronous_commit: "on",
      exit_on_error: "off",
      default_transaction_isolation: "read committed",
      datestyle: "ISO, MDY",
      statement_timeout: "4s",
      idle_in_transaction_session_timeout: "10s",
    };
    const [settings, ofBackground] = [await readSettings(db), await readSettings(background)];
    await close();
    expect(settings).toEqual(ofCalls);
    expect(ofBackground).toEqual({
      ...ofCalls,
      statement_timeout: "30s",
      idle_in_transaction_session_timeout: "30s",
    });
  });
});

test("only results of attempts are committed without waiting for the disk", async () => {
  await using stored = await createTestDatabase("postgres");
  const { db } = await stored.open();
  const merchant = newMerchant();
  const subscriptionKey = await createSubscription(db, merchant);
  await createEvent(db, merchant);
  const attempts = await claim(db, { merchant, subscriptionKey });
  const made = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok", endedAt: NOW };
  const results = attempts.map((attempt) => ({
    ...attempt,
    ...made,
    outcome: { kind: "delivered" } as const,
  }));

  const commits = await db.connection().execute(async (connection) => {
    const read = async (store: typeof db) => (await readSettings(store)).synchronous_commit;
    const inTransaction = (work: (transaction: typeof db) => Promise<unknown>) =>
      connection.transaction().execute(async (transaction) => {
        await work(transaction);
        return read(transaction);
      });
    return {
      claim: await inTransaction((transaction) => claim(transaction, { merchant, subscriptionKey })),
      results: await inTransaction((transaction) => recordAttempts(transaction, results)),
      afterwards: await read(connection),
    };
  });

  expect(commits).toEqual({ claim: "on", results: "off", afterwards: "on" });
});

describe("a refund that PostgreSQL rolls back because of other transactions", () => {
  /** A sequence is not rolled back, so it counts the attempts. */
  const failFirst = ({ env }: Deployment, failures: number, code: string) =>
    runStatement(
      env.DATABASE_URL ?? "",
      `create sequence attempts;
       create function fail() returns trigger language plpgsql as $$ begin
         if nextval('attempts') <= ${failures} then raise exception 'conflict' using errcode = '${code}'; end if;
         return new;
       end $$;
       create trigger fail before insert on events for each row execute function fail()`,
    );

  test.each(["40001", "40P01"])("is tried again and succeeds (%s)", async (code) => {
    await using deployment = await createDeployment();
    const server = await deployment.start();
    await failFirst(deployment, 2, code);

    const { status } = await post<Refund>(server.url, "/v1/refunds", refundOf("pay_settled"));

    expect(status).toBe(201);
  });

  test("responds 503 when it never succeeds, and leaves the requestKey free", async () => {
    await using deployment = await createDeployment();
    const server = await deployment.start();
    await failFirst(deployment, 4, "40001");
    const request = refundOf("pay_settled");

    const failed = await post<Problem>(server.url, "/v1/refunds", request);
    const repeated = await post<Refund>(server.url, "/v1/refunds", request);

    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(repeated.status).toBe(201);
  });
});

async function readSettings(store: Kysely<Tables>): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of Object.keys(HOSTILE)) {
    const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(store);
    settings[name] = rows[0]?.value ?? "";
  }
  return settings;
}
