import { type Answer, post } from "../helpers/server.ts";
import { dollars, givenMerchant, type Refund } from "../server/given.ts";
import { type Debit, notFound, type PaymentRecord, type Sandbox, sandboxOf } from "./call.ts";

type Server = Parameters<typeof givenMerchant>[0] & { readonly url: string };

/** A merchant that no other test has, with what tests ask of a server in its name. */
export type Merchant = {
  readonly merchant: string;
  readonly token: string;
  readonly sandbox: Sandbox;
  issue<Body = Refund>(body: unknown): Promise<Answer<Body>>;
  /** Makes an original payment of 100.00, unless said otherwise. */
  create(fields?: object): Promise<Debit>;
  get(paymentId: string): Promise<PaymentRecord>;
};

export async function givenSandboxMerchant(server: Server): Promise<Merchant> {
  return merchantAt(server, await givenMerchant(server));
}

/** A merchant as another server sees it, or the same one after its restart. */
export function merchantAt(
  server: { readonly url: string },
  { merchant, token }: { readonly merchant: string; readonly token: string },
): Merchant {
  const sandbox = sandboxOf(server, token);
  return {
    merchant,
    token,
    sandbox,
    issue: (body) => post(server.url, "/v1/refunds", body, { token }),
    create: async (fields = {}) => {
      const { status, body } = await sandbox("createPayment", { body: { amount: dollars(100), ...fields } });
      if (status !== 201) throw new Error(`no payment was made: ${JSON.stringify(body)}`);
      return body as Debit; // 201 has no other body
    },
    get: async (paymentId) => {
      const { status, body } = await sandbox("getPayment", { path: { paymentId } });
      if (status !== 200) throw new Error(`no record was found: ${JSON.stringify(body)}`);
      return body as PaymentRecord; // 200 has no other body
    },
  };
}

/** The events of one payment or refund, oldest first. */
export async function eventsOf({ database: { db } }: Server, resourceId: string) {
  const events = db.selectFrom("events").where("resource_id", "=", resourceId).orderBy("sequence");
  return events.select(["type", "sequence", "occurred_at"]).execute();
}

export const UNKNOWN_PAYMENT = notFound(
  "You have no payment with this paymentId. Check the identifier and the access token.",
);
