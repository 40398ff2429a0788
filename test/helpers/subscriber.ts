import { vi } from "vitest";
import type { SandboxSchemas } from "../../server/contract/document.ts";
import { refundOf, type Subscription, subscriptionTo } from "./factories.ts";
import { createSandboxMerchant, type Merchant } from "./sandbox.ts";
import { post } from "./server.ts";

export type Delivery = SandboxSchemas["Delivery"];

/** A new merchant, with the calls that tests of webhooks make on its behalf. */
export type Subscriber = Merchant & {
  /** Subscribes an address, by default to all events; resolves with the key. */
  subscribe(url: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Issues a refund of 1.00 that is authorized at once; resolves with its paymentId. */
  refund(): Promise<string>;
  /** Its deliveries, newest first. */
  deliveries(query?: Readonly<Record<string, string | number>>): Promise<readonly Delivery[]>;
  /** Its only delivery, as soon as that has this state and this number of attempts. */
  delivery(state: Delivery["state"], attempts: number): Promise<Delivery>;
  redeliver(webhookId: string): Promise<Delivery>;
};

export async function createSubscriber(
  server: Parameters<typeof createSandboxMerchant>[0],
): Promise<Subscriber> {
  const acme = await createSandboxMerchant(server);
  const { sandbox, token } = acme;
  const payment = await acme.create();
  const deliveries = async (query = {}) => (await sandbox("listDeliveries", { query })).body.items;
  return {
    ...acme,
    deliveries,
    async subscribe(url, fields = {}) {
      const body = subscriptionTo(url, fields);
      const response = await post<Subscription>(server.url, "/v1/webhook/subscribe", body, { token });
      if (response.status !== 200) throw new Error(`not subscribed: ${JSON.stringify(response.body)}`);
      return response.body.subscriptionKey;
    },
    async refund() {
      const response = await acme.issue(refundOf(payment.paymentId));
      if (response.status !== 201) throw new Error(`not issued: ${JSON.stringify(response.body)}`);
      return response.body.paymentId;
    },
    delivery: (state, attempts) =>
      until(async () => {
        const [delivery] = await deliveries();
        return delivery?.state === state && delivery.attempts.length === attempts ? delivery : undefined;
      }),
    async redeliver(webhookId) {
      const { status, body } = await sandbox("redeliver", { path: { webhookId } });
      if (status !== 202) throw new Error(`not sent again: ${JSON.stringify(body)}`);
      return body as Delivery;
    },
  };
}

/** Repeats a query for up to two minutes until it returns a value other than false, and resolves with that. */
export function until<T>(query: () => Promise<T | false | undefined> | T | false | undefined): Promise<T> {
  const poll = async () => {
    const found = await query();
    if (found === undefined || found === false)
      throw new Error("the query returned nothing within two minutes");
    return found;
  };
  return vi.waitFor(poll, { timeout: 120_000, interval: 10 });
}
