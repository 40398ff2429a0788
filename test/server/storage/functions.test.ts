import fc from "fast-check";
import { Kysely, PostgresDialect, sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../server/domain/delivery-outcome.ts";
import { citus } from "../../../server/storage/citus/citus.ts";
import { FUNCTIONS } from "../../../server/storage/citus/functions.ts";
import { createPool } from "../../../server/storage/database/pool.ts";
import type { Store, Tables } from "../../../server/storage/database/tables.ts";
import { hold } from "../../../server/storage/payments/holds.ts";
import {
  recordAttempts,
  saveRefunds,
  withStatements,
} from "../../../server/storage/statements/statements.ts";
import { endSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { createTestDatabase } from "../../helpers/databases.ts";
import { claim, createEvent, createSubscription } from "../../helpers/delivery-factories.ts";
import {
  allEvents,
  allRecords,
  createPayment,
  decideRefund,
  LONG_AGO,
  NOW,
  newMerchant,
} from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

/** The same tables twice: as a server uses one PostgreSQL, and with the functions for distributed tables. */
const stores = forSuite(
  async () => {
    const database = await createTestDatabase("postgres");
    const { db } = await database.open();
    // Tables that Citus spreads have no triggers.
    const withoutTriggers = { settings: "set session_replication_role = replica" };
    const pool = createPool(database.options.databaseUrl ?? "", withoutTriggers);
    const functions: Store = new Kysely<Tables>({
      dialect: withStatements(new PostgresDialect({ pool }), citus),
    });
    for (const { name, definition } of [FUNCTIONS.saveRefunds, FUNCTIONS.recordAttempts]) {
      await sql.raw(`create or replace function ${name} ${definition}`).execute(functions);
    }
    const remove = async () => {
      await functions.destroy();
      await database.remove();
    };
    return { statement: db, functions, remove };
  },
  ({ remove }) => remove(),
);

/** The same work by each, for a merchant of its own. */
async function byEach<Result>(work: (store: Store, merchant: string) => Promise<Result>) {
  const merchants = [newMerchant(), newMerchant()] as const;
  return [await work(stores.statement, merchants[0]), await work(stores.functions, merchants[1])] as const;
}

describe("the functions for distributed tables", () => {
  /** @decision D10 D12a */
  test("save the refunds that the statement saves", async () => {
    const refund = fc.record({
      payment: fc.nat({ max: 3 }),
      amountCents: fc.integer({ min: 1, max: 120_00 }),
      requestKey: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
    });
    const batches = fc.array(fc.array(refund, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(batches, fc.boolean(), async (wishes, held) => {
        const [byStatement, byFunction] = await byEach(async (store, merchant) => {
          const { statement: db } = stores;
          await createSubscription(db, merchant);
          const payments = [
            await createPayment(db, { merchant, paymentId: "pay_0" }),
            await createPayment(db, { merchant, paymentId: "pay_1", status: "PROCESSING" }),
            await createPayment(db, { merchant, paymentId: "pay_2", status: "FAILED" }),
            await createPayment(db, { merchant, paymentId: "pay_3", settledAt: LONG_AGO }),
          ];
          // All decided first, so that some decisions hold no longer.
          const decided = await Promise.all(
            wishes.map((batch) =>
              Promise.all(
                batch.map(({ payment, ...wish }) =>
                  decideRefund(db, payments[payment] ?? { merchant, paymentId: "" }, wish),
                ),
              ),
            ),
          );
          if (held) await hold(db, { merchant, reason: "a test" });
          const saved = [];
          for (const batch of decided) saved.push(await saveRefunds(store, batch));
          const records = (await allRecords(db, merchant)).map(
            ({ paymentId, merchant: _, createdAt, ...rest }) =>
              rest.kind === "DEBIT" ? { paymentId, ...rest } : rest,
          );
          const events = (await allEvents(db, merchant)).map(({ type, sequence }) => `${type} ${sequence}`);
          const deliveries = await countDeliveries(merchant);
          const payouts = await countPayouts(merchant);
          return { saved, records: sorted(records), events: events.sort(), deliveries, payouts };
        });
        expect(byFunction).toEqual(byStatement);
      }),
      { numRuns: 40 },
    );
  });

  /** @decision D23 D26 */
  test("record the attempts that the statement records", async () => {
    const outcome = fc.constantFrom<Outcome>(
      { kind: "delivered" },
      { kind: "retry", afterMs: 5_000 },
      { kind: "exhausted" },
      { kind: "ended" },
    );
    const attempts = fc.array(
      fc.record({
        subscription: fc.nat({ max: 1 }),
        outcome,
        redelivery: fc.boolean(),
        onlyOnce: fc.boolean(),
        lost: fc.constantFrom("fence", "lease", "claim", undefined, undefined, undefined),
      }),
      { minLength: 1, maxLength: 6 },
    );
    const ended = fc.constantFrom(0, 1, undefined, undefined);
    await fc.assert(
      fc.asyncProperty(attempts, ended, async (wishes, endedSubscription) => {
        const [byStatement, byFunction] = await byEach(async (store, merchant) => {
          const { statement: db } = stores;
          const keys = [await createSubscription(db, merchant), await createSubscription(db, merchant)];
          for (let index = 0; index < wishes.length; index += 1)
            await createEvent(db, merchant, `acc_${index}`);
          const claimed = await Promise.all(
            keys.map((subscriptionKey) => claim(db, { merchant, subscriptionKey })),
          );
          const chosen = wishes.map(({ subscription }, index) => {
            const attempt = claimed[subscription]?.[index];
            if (!attempt) throw new Error("a claim is missing");
            return attempt;
          });
          for (const [index, { redelivery, onlyOnce, lost }] of wishes.entries()) {
            await sql`
              update deliveries set redelivery_requested = ${redelivery}, only_once = ${onlyOnce}, fence = fence + ${lost === "fence" ? 1 : 0}::integer,
                leased_until = ${lost === "lease" ? sql`now() - interval '1 s'` : lost === "claim" ? sql`null` : sql`leased_until`},
                sending = ${lost !== "claim"}
              where webhook_id = ${chosen[index]?.webhookId}`.execute(db);
          }
          const subscriptionKey = endedSubscription === undefined ? undefined : keys[endedSubscription];
          if (subscriptionKey) await endSubscription(db, { merchant, subscriptionKey, now: NOW });
          const results = chosen.map((attempt, index) => ({
            ...attempt,
            ...{
              at: NOW,
              endedAt: NOW,
              status: null,
              error: "refused",
              milliseconds: index,
              bodyStart: null,
            },
            outcome: wishes[index]?.outcome ?? ({ kind: "delivered" } as const),
          }));
          const recorded = await recordAttempts(store, results);
          return {
            recorded: chosen.map(({ webhookId }) => recorded.has(webhookId)),
            deliveries: await Promise.all(chosen.map(({ webhookId }) => readDelivery(webhookId))),
            ended: await readEnded(keys),
          };
        });
        expect(byFunction).toEqual(byStatement);
      }),
      { numRuns: 40 },
    );
  });
});

function sorted<Item>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function countPayouts(merchant: string): Promise<number> {
  const rows = await stores.statement
    .selectFrom("payouts_waiting")
    .select("payment_id")
    .where("merchant", "=", merchant)
    .execute();
  return rows.length;
}

async function countDeliveries(merchant: string): Promise<number> {
  const rows = await stores.statement
    .selectFrom("deliveries")
    .select("webhook_id")
    .where("merchant", "=", merchant)
    .execute();
  return rows.length;
}

async function readDelivery(webhookId: string) {
  const { rows } = await sql`
    select state, attempts, only_once, redelivery_requested, sending, due_at, (
      select json_agg(json_build_array(number, domain_at, status, error, milliseconds, response) order by number)
      from delivery_attempts a where a.webhook_id = d.webhook_id) as attempts_made
    from deliveries d where webhook_id = ${webhookId}`.execute(stores.statement);
  return rows[0];
}

async function readEnded(keys: readonly string[]) {
  const { rows } = await sql`
    select ended_at from subscriptions where subscription_key = any(${keys}::text[]) order by subscription_key`.execute(
    stores.statement,
  );
  return rows;
}
