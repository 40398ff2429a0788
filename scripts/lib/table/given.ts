import { createHash, randomUUID } from "node:crypto";
import { failureBy } from "../../../server/domain/refunds.ts";
import { type Fixture, insertFixtures } from "../../../server/storage/fixtures.ts";
import { SUBSCRIPTION_LIMIT } from "../../../server/storage/subscriptions.ts";
import type { Store } from "../../../server/storage/tables.ts";
import { insertToken } from "../../../server/storage/tokens.ts";
import type { OperationId, Token } from "./row.ts";

/** The access token to send for each kind; `absent` sends none. */
export type Tokens = Readonly<Record<Exclude<Token, "absent">, string>>;

/** What the calls of one run of the table are made with: a merchant of its own for each operation. */
export type Given = Readonly<Record<OperationId, Tokens>>;

const SCOPES: Readonly<Record<OperationId, string>> = {
  issueRefund: "refunds",
  subscribeToWebhooks: "webhooks",
};
const LONG_AGO_MS = 30 * 24 * 60 * 60 * 1000;
/** As much as a payment can be, which is more than all rows together refund. */
const PLENTY_CENTS = 999_999_999_999;

/** The token of a merchant that has as many live subscriptions as it may; to be made once for a store. */
export async function givenFullMerchant(store: Store): Promise<string> {
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
  return givenToken(store, merchant, [SCOPES.subscribeToWebhooks]);
}

/** New merchants with the payments and the used keys that the table names. */
export async function givenMerchants(store: Store, full: string): Promise<Given> {
  const run = randomUUID();
  const now = new Date();
  await insertFixtures(store, fixturesOf(`refunds_${run}`, now), now);
  return {
    issueRefund: await givenTokens(store, "issueRefund", { merchant: `refunds_${run}`, full }),
    subscribeToWebhooks: await givenTokens(store, "subscribeToWebhooks", {
      merchant: `webhooks_${run}`,
      full,
    }),
  };
}

async function givenTokens(
  store: Store,
  operation: OperationId,
  { merchant, full }: { readonly merchant: string; readonly full: string },
): Promise<Tokens> {
  const own = SCOPES[operation];
  const others = Object.values(SCOPES).filter((scope) => scope !== own);
  return {
    valid: await givenToken(store, merchant, [own]),
    unscoped: await givenToken(store, merchant, []),
    other: await givenToken(store, merchant, others),
    unknown: `token-${randomUUID()}`,
    full,
  };
}

async function givenToken(store: Store, merchant: string, scopes: readonly string[]): Promise<string> {
  const token = `token-${randomUUID()}`;
  await insertToken(store, { tokenSha256: createHash("sha256").update(token).digest(), merchant, scopes });
  return token;
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
