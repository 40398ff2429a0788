/** Checks of the sample program in another language that the exam does not make, such as a refusal after a lost response. */
import assert from "node:assert/strict";
import type { Sandbox } from "../../../server/sandbox/index.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import type { Merchant } from "./build-sample.ts";

/** A 32-bit float, rounding, an exponent or a third digit would change them. */
const AMOUNTS = ["131072.01", "9999999999.99"];

/** What the exam does not ask. Each rejects with what the sample did wrong. */
export const checks: Readonly<Record<string, (merchant: Merchant, sandbox: Sandbox) => Promise<void>>> = {
  async "issues refunds of exactly the amount, once"(merchant, sandbox) {
    for (const amount of AMOUNTS) {
      const { order, refunds } = await placeOrder(sandbox, amount);
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED");
      assert.equal(await merchant.refund(acme(sandbox), ...order), "AUTHORIZED", "the second run");
      assert.deepEqual(await refunds(), [amount]);
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
};

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
