/** The merchants and payments on a server that the kit's request cases name. */
import { randomUUID } from "node:crypto";
import { failureBy } from "../../server/domain/refund-rules.ts";
import type { Db } from "../../server/storage/database/db-types.ts";
import { hold } from "../../server/storage/payments/holds.ts";
import { type Fixture, insertFixtures } from "../../server/storage/sandbox-data.ts";
import { SUBSCRIPTION_LIMIT } from "../../server/storage/webhooks/subscriptions.ts";
import type { OperationId, Tokens } from "../conformance/cases/request-case.ts";
import { createToken } from "../helpers/factories.ts";

/** The tokens of one run of the table: a separate merchant for each operation. */
export type Merchants = Readonly<Record<OperationId, Tokens>>;

const SCOPES: Readonly<Record<OperationId, string>> = {
  issueRefund: "refunds",
  subscribeToWebhooks: "webhooks",
};
const LONG_AGO_MS = 30 * 24 * 60 * 60 * 1000;
/** The largest amount of a payment, which is more than all cases together refund. */
const PLENTY_CENTS = 999_999_999_999;

/** Creates a merchant with the largest number of live subscriptions, once for each store; resolves with its token. */
export async function createFullMerchant(store: Db): Promise<string> {
  const merchant = `full_${randomUUID()}`;
  const subscriptions = Array.from({ length: SUBSCRIPTION_LIMIT }, () => ({
    subscription_key: `sub_${randomUUID()}`,
    merchant,
    url: "https://merchant.example.com/webhooks",
    secret_ciphertext: Buffer.alloc(32),
    type: "ALL" as const,
    details: [],
    created_at: new Date(),
  }));
  await store.insertInto("subscriptions").values(subscriptions).execute();
  return createToken({ database: { db: store } }, merchant, [SCOPES.subscribeToWebhooks]);
}

/** Creates merchants with the payments and the used keys that the table names. */
export async function createMerchants(store: Db, full: string): Promise<Merchants> {
  const run = randomUUID();
  const now = new Date();
  const held = `held_${run}`;
  await insertFixtures(store, [...fixturesOf(`refunds_${run}`, now), ...fixturesOf(held, now)], now);
  await hold(store, { merchant: held, reason: "for the cases of a held merchant" });
  return {
    issueRefund: await createTokens(store, "issueRefund", { merchant: `refunds_${run}`, full, held }),
    subscribeToWebhooks: await createTokens(store, "subscribeToWebhooks", {
      merchant: `webhooks_${run}`,
      full,
      held,
    }),
  };
}

async function createTokens(
  store: Db,
  operation: OperationId,
  { merchant, full, held }: Readonly<Record<"merchant" | "full" | "held", string>>,
): Promise<Tokens> {
  const own = SCOPES[operation];
  const others = Object.values(SCOPES).filter((scope) => scope !== own);
  const issue = (scopes: readonly string[], of = merchant) =>
    createToken({ database: { db: store } }, of, scopes);
  return {
    valid: await issue([own]),
    unscoped: await issue([]),
    other: await issue(others),
    unknown: `token-${randomUUID()}`,
    full,
    held: await issue([own], held),
  };
}

function fixturesOf(merchant: string, now: Date): Fixture[] {
  const settledAt = new Date(now.getTime() - LONG_AGO_MS);
  const debit = { kind: "DEBIT", merchant, amountCents: PLENTY_CENTS } as const;
  return [
    { ...debit, paymentId: "pay_settled", status: "SETTLED", settledAt },
    { ...debit, paymentId: "pay_recent", status: "SETTLED", settledAt: now },
    { ...debit, paymentId: "pay_processing", status: "PROCESSING", settledAt: null },
    { ...debit, paymentId: "pay_failed", status: "FAILED", settledAt: null },
    { ...debit, paymentId: "pay_covered", status: "COVERED", settledAt },
    {
      ...debit,
      paymentId: "pay_small",
      status: "SETTLED",
      settledAt,
      amountCents: 99,
      requestKey: "key-of-payment",
    },
    {
      kind: "REFUND",
      merchant,
      paymentId: "rfd_given",
      amountCents: 100,
      originalPaymentId: "pay_failed",
      requestKey: "key-of-refund",
      failure: failureBy("original-failed"),
    },
    { ...debit, merchant: `${merchant}_other`, paymentId: "pay_anothers", status: "SETTLED", settledAt },
  ];
}
