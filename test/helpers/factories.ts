/** Makes records that no other test uses: `createMerchant`, `createToken`, `createPayment`. */
import { createHash, randomUUID } from "node:crypto";
import type { Problem } from "../../client/src/types.ts";
import type { Schemas } from "../../server/contract/contract-document.ts";
import type { Database } from "../../server/storage/database/database.ts";
import type { NewPayment } from "../../server/storage/payments/original-transitions.ts";
import { insertToken } from "../../server/storage/sandbox-data.ts";
import { createPayment as createRecord } from "./store-factories.ts";

export type { Problem };
export type Refund = Schemas["Refund"];
export type InvalidRequest = Schemas["InvalidRequestProblem"];
export type Duplicate = Schemas["DuplicateRequestKeyProblem"];
export type Subscription = Schemas["Subscription"];

/** The parts of a server that these functions use. */
type Stored = { readonly database: Pick<Database, "db"> };

/** A time before that of every test's clock. */
const LONG_AGO = new Date("2020-01-02T15:00:00.000Z");

/** A new merchant, and its access token. */
export async function createMerchant(
  server: Stored,
  scopes: readonly string[] = ["refunds", "webhooks"],
): Promise<{ merchant: string; token: string }> {
  const merchant = `merchant_${randomUUID()}`;
  return { merchant, token: await createToken(server, merchant, scopes) };
}

/** One more access token of a merchant. */
export async function createToken(
  { database }: Stored,
  merchant: string,
  scopes: readonly string[] = ["refunds", "webhooks"],
): Promise<string> {
  const token = `token-${randomUUID()}`;
  const tokenSha256 = createHash("sha256").update(token).digest();
  await insertToken(database.db, { tokenSha256, merchant, scopes });
  return token;
}

/** Creates an original payment, by default of 100.00, settled long ago, and acme's, and returns its id. */
export async function createPayment(
  { database }: Stored,
  payment: Partial<NewPayment> = {},
  now = new Date(),
): Promise<string> {
  const settledAt = payment.status === "PROCESSING" ? null : LONG_AGO;
  const record = await createRecord(database.db, { merchant: "acme", settledAt, now, ...payment });
  return record.paymentId;
}

/** The body of a call that by default refunds 1.00 under a new requestKey. */
export function refundOf(paymentId: string, fields: Readonly<Record<string, unknown>> = {}) {
  return { paymentId, amount: dollars(1), requestKey: randomUUID(), ...fields };
}

export function dollars(value: number) {
  return { currency: "USD", value };
}

/** The body of a call that by default subscribes to all events. */
export function subscriptionTo(url: string, fields: Readonly<Record<string, unknown>> = {}) {
  return { url, secretKey: `secret ${randomUUID()}`, subscriptionDetails: { type: "ALL" }, ...fields };
}

/** The number of rows in each table to which a call could add some. */
export async function countRows({ database: { db } }: Stored) {
  const count = async (table: "payments" | "events" | "subscriptions") => {
    const query = db.selectFrom(table).select((select) => select.fn.countAll<number>().as("rows"));
    return (await query.executeTakeFirstOrThrow()).rows;
  };
  return {
    payments: await count("payments"),
    events: await count("events"),
    subscriptions: await count("subscriptions"),
  };
}
