import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { Sandbox } from "../../../server/sandbox/index.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { type Delivery, type Merchant, SECRET } from "./merchant.ts";
import { storedEvents } from "./stored-events.ts";

/** A 32-bit float, rounding, an exponent or a third digit would change them. */
const AMOUNTS = ["131072.01", "9999999999.99"];

/** Each rejects with what the sample did wrong. */
export const checks: Readonly<Record<string, (merchant: Merchant, sandbox: Sandbox) => Promise<void>>> = {
  async "issues refunds of exactly the amount, once"(merchant, sandbox) {
    for (const amount of AMOUNTS) {
      const { order, refunds } = await placeOrder(sandbox, amount);
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED");
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED", "the second run");
      assert.deepEqual(await refunds(), [amount]);
    }
  },

  async "finds the refund whose response was lost, and waits when the service is busy"(merchant, sandbox) {
    for (const kind of [
      "CLOSED_AFTER",
      "TRUNCATED",
      "CLOSED_BEFORE",
      "UNAVAILABLE",
      "RATE_LIMITED",
    ] as const) {
      const { order, refunds } = await placeOrder(sandbox);
      await sandbox.faults.arm({ kind, operation: "issueRefund" });
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED", kind);
      assert.deepEqual(await refunds(), ["19.99"], kind);
    }
  },

  async "says none only when no attempt can have made the refund, of this run or of an earlier one"(
    merchant,
    sandbox,
  ) {
    const [, ...others] = (await placeOrder(sandbox)).order;
    assert.equal(await merchant.refund(acme(sandbox), "pay_of_nobody", ...others), "none");
    const again = await placeOrder(sandbox);
    await sandbox.faults.arm({ kind: "CLOSED_AFTER", operation: "issueRefund", times: 4 });
    assert.equal(
      await merchant.refund(acme(sandbox), ...again.order),
      "unknown",
      "a run that saw no response",
    );
    const wrong = { url: sandbox.url, token: "wrong" };
    assert.equal(
      await merchant.refund(wrong, ...again.order),
      "unknown",
      "the run after that, with a wrong token",
    );
    await sandbox.faults.clear();
    for (const status of [401, 403]) {
      const { order, refunds } = await placeOrder(sandbox);
      await using service = await loseThenRefuse(sandbox.url, status);
      assert.equal(
        await merchant.refund({ ...acme(sandbox), url: service.url }, ...order),
        "unknown",
        `${status}`,
      );
      assert.deepEqual(await refunds(), ["19.99"], `${status}`);
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED", "the run after that");
    }
  },

  async "tells its own refund from another one with the same key, by each of three fields"(
    merchant,
    sandbox,
  ) {
    const { order, refunds } = await placeOrder(sandbox);
    const [payment, , reference] = order;
    await merchant.refund(acme(sandbox), ...order);
    const other = await sandbox.payments.create({ amount: { currency: "USD", value: 100 } });
    assert.equal(await merchant.refund(acme(sandbox), payment, "1.00", reference), "conflict");
    assert.equal(await merchant.refund(acme(sandbox), other.paymentId, "19.99", reference), "conflict");
    assert.deepEqual(await refunds(), ["19.99"]);
    const foreign = `${reference}-foreign`;
    const amount = { currency: "USD", value: 19.99 };
    await post(sandbox, "/v1/refunds", {
      paymentId: payment,
      amount,
      requestKey: foreign,
      clientReferenceId: "else",
    });
    assert.equal(await merchant.refund(acme(sandbox), payment, "19.99", foreign), "conflict");
  },

  async "stores an event once, which comes twice at once and after a restart"(merchant, sandbox) {
    await using receiver = await startReceiver();
    const kind = { type: "EVENT", details: ["refund.authorized"] };
    const subscription = { url: receiver.url, secretKey: SECRET, subscriptionDetails: kind };
    const subscribed = await post(sandbox, "/v1/webhook/subscribe", subscription);
    const { order } = await placeOrder(sandbox);
    await merchant.refund(acme(sandbox), ...order);
    const [received] = await receiver.first(1);
    await sandbox.subscriptions.end((await subscribed.json()).subscriptionKey);
    assert.ok(received);
    const { webhookId: id, headers, body } = received;
    const timestamp = String(headers["webhook-timestamp"]);
    const delivery = { id, timestamp, signature: String(headers["webhook-signature"]), body };
    const before = (await storedEvents(merchant.folder)).length;
    assert.deepEqual(await Promise.all([merchant.receive(delivery), merchant.receive(delivery)]), [204, 204]);
    assert.equal(await merchant.receive(delivery), 204);
    assert.deepEqual((await storedEvents(merchant.folder)).slice(before), [JSON.parse(body)]);
    await refusesForgeries(merchant, delivery);
    assert.equal((await storedEvents(merchant.folder)).length, before + 1);
  },
};

async function refusesForgeries(merchant: Merchant, delivery: Delivery): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000);
  const id = "msg_forged";
  const old = {
    ...delivery,
    id,
    timestamp: String(Math.floor(hourAgo.getTime() / 1000)),
    signature: new Webhook(SECRET).sign(id, hourAgo, delivery.body),
  };
  assert.equal(await merchant.receive({ ...delivery, id }), 400, "the id of another event");
  assert.equal(
    await merchant.receive({ ...delivery, body: delivery.body.replace("19.99", "99.19") }),
    400,
    "altered",
  );
  assert.equal(await merchant.receive(old), 400, "old");
  const two = { ...delivery, signature: `v1,${"A".repeat(43)}= ${delivery.signature}` };
  assert.equal(await merchant.receive(two), 204, "the second of two signatures matches");
}

const acme = (sandbox: Sandbox) => ({ url: sandbox.url, token: sandbox.accessToken });

let orders = 0;

/** A settled payment, and the arguments that refund it. */
async function placeOrder(sandbox: Sandbox, amount = "19.99") {
  orders += 1;
  const value = Number(amount);
  const { paymentId } = await sandbox.payments.create({
    amount: { currency: "USD", value },
    status: "SETTLED",
  });
  return {
    order: [paymentId, amount, `order-${process.pid}-${orders}`] as const,
    /** The amounts of the payment's refunds, with the digits that the sandbox sends: parsing them could hide an error. */
    refunds: async () => {
      const headers = { Authorization: `Bearer ${sandbox.accessToken}`, Accept: "application/json" };
      const list = await fetch(`${sandbox.url}/sandbox/payments?originalPaymentId=${paymentId}`, { headers });
      return [...(await list.text()).matchAll(/"value":\s*([^,}\s]+)/g)].map(([, digits]) => digits);
    },
  };
}

function post(sandbox: Sandbox, path: string, body: object): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${sandbox.accessToken}`,
    Accept: "application/json",
    "Content-Type": "application/json",
  };
  return fetch(sandbox.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** In front of the sandbox: it loses the response to the first call, and refuses the later ones. */
async function loseThenRefuse(url: string, status: number) {
  let calls = 0;
  return serveLocally(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    calls += 1;
    if (calls === 1) {
      const { authorization: Authorization = "" } = request.headers;
      const headers = { Authorization, Accept: "application/json", "Content-Type": "application/json" };
      await fetch(`${url}/v1/refunds`, { method: "POST", headers, body });
      response.destroy();
      return;
    }
    const problem = {
      type: "about:blank",
      title: "Refused",
      status,
      detail: "Refused.",
      instance: "urn:uuid:019e9bd0-4b7a-7c3e-9a51-2f60c8d3b7aa",
    };
    const errorDetails = { errorCode: "REFUSED", errorMessage: "Refused." };
    response.writeHead(status, { "Content-Type": "application/problem+json" });
    response.end(JSON.stringify({ ...problem, errorDetails }));
  });
}
