/** The checks of requestKey: a repeated one gets 409 with the existing refund. */
import { isDeepStrictEqual } from "node:util";
import { assert, expectProblem, expectRefund } from "../assertions.ts";
import { type Check, defineGroup, PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, paymentOf, refundOf } from "../valid-requests.ts";

/** The behaviour that a merchant relies on after a lost response. */
export const KEY_CHECKS: Check[] = defineGroup("requestKey", WITH_TOKEN, [
  {
    id: "key.identical-repeat",
    name: "responds with 409 to the same call again",
    sources: ["7.5", "11.3", "12.5", "D09"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      expectRefund(await issue(kit, refund));
      expectProblem(await issue(kit, refund), "DUPLICATE_REQUEST_KEY");
    },
  },
  {
    id: "key.different-repeat",
    name: "responds with 409 to another refund with a requestKey that was used",
    sources: ["7.5", "12.5", "D09"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      expectRefund(await issue(kit, refund));
      const others = [{ amount: { currency: "USD", value: 0.02 } }, { clientReferenceId: "another" }];
      for (const other of others)
        expectProblem(await issue(kit, { ...refund, ...other }), "DUPLICATE_REQUEST_KEY");
    },
  },
  {
    id: "key.existing",
    name: "names in the 409 the refund that holds the requestKey",
    sources: ["D09", "7.5"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit, { clientReferenceId: "order-1042" });
      const made = expectRefund(await issue(kit, refund));
      const exchange = await issue(kit, refund);
      const { existing } = expectProblem(exchange, "DUPLICATE_REQUEST_KEY");
      const expected = { ...made, originalPaymentId: refund.paymentId, amount: refund.amount };
      const same = isDeepStrictEqual(existing, expected);
      assert(same, `existing with all fields of the response to the refund, and what was sent`, exchange);
    },
  },
  {
    id: "key.of-payment",
    name: "responds with 409 and nothing but paymentId to the requestKey of an original payment",
    sources: ["7.5", "11.3", "D09", "D10"],
    preconditions: [PRECONDITIONS.paymentKey, PRECONDITIONS.settled],
    async run(kit) {
      const paymentId = kit.options.payments.settled;
      const exchange = await issue(kit, refundOf(kit, { requestKey: kit.options.paymentKey }));
      const { existing } = expectProblem(exchange, "DUPLICATE_REQUEST_KEY");
      const same = isDeepStrictEqual(existing, { paymentId });
      assert(same, "existing with the paymentId of the settled payment and nothing else", exchange);
    },
  },
  {
    id: "key.free-after-refusal",
    name: "leaves the requestKey of a refused call free",
    sources: ["D10", "7.5"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      const unknown = { ...refund, paymentId: "pay_conform_unknown" };
      expectProblem(await issue(kit, unknown), "PAYMENT_NOT_FOUND");
      expectProblem(await issue(kit, { ...refund, amount: 1 }), "INVALID_REQUEST");
      expectProblem(await issue(kit, refund, { token: "conform-nobody" }), "UNAUTHORIZED");
      expectProblem(await issue(kit, refund, { headers: { Accept: "text/xml" } }), "NOT_ACCEPTABLE");
      expectRefund(await issue(kit, refund));
    },
  },
  {
    id: "key.of-failed-refund",
    name: "responds with 409 also when the refund that holds the requestKey has failed",
    sources: ["D10", "7.5"],
    preconditions: [PRECONDITIONS.unrefundable],
    async run(kit) {
      const refund = refundOf(kit, { paymentId: paymentOf(kit, ["failed", "covered", "refund"]) });
      expectRefund(await issue(kit, refund));
      expectProblem(await issue(kit, refund), "DUPLICATE_REQUEST_KEY");
    },
  },
  {
    id: "key.byte-for-byte",
    name: "distinguishes requestKeys that differ in any byte",
    sources: ["D10"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const key = `${kit.newKey()}-\u00e9`;
      for (const requestKey of [key, key.toUpperCase(), `${key} `, key.normalize("NFD")])
        expectRefund(await issue(kit, refundOf(kit, { requestKey })));
    },
  },
  {
    id: "key.race",
    name: "makes one refund when five calls with one requestKey come at once",
    sources: ["12.5", "7.5", "D10"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      const exchanges = await Promise.all(Array.from({ length: 5 }, () => issue(kit, refund)));
      const statuses = exchanges.map(({ received }) => received.status).sort();
      const [other] = exchanges.filter(({ received }) => received.status !== 409);
      assert(
        statuses.join() === "201,409,409,409,409",
        `201 once and 409 four times, not ${statuses}`,
        other,
      );
    },
  },
  {
    id: "key.of-one-merchant",
    name: "keeps the requestKeys of merchants apart",
    sources: ["D10", "12.5"],
    preconditions: [PRECONDITIONS.payment, PRECONDITIONS.otherToken],
    async run(kit) {
      const refund = refundOf(kit);
      expectRefund(await issue(kit, refund));
      const unknown = { ...refund, paymentId: "pay_conform_unknown" };
      const exchange = await issue(kit, unknown, { token: kit.options.otherToken ?? null });
      expectProblem(exchange, "PAYMENT_NOT_FOUND", "the other merchant has not used this requestKey");
    },
  },
  {
    id: "key.of-merchant-not-token",
    name: "recognizes a requestKey that comes with another token of the merchant",
    sources: ["D10", "12.5"],
    preconditions: [PRECONDITIONS.payment, PRECONDITIONS.secondToken],
    async run(kit) {
      const refund = refundOf(kit);
      expectRefund(await issue(kit, refund));
      const exchange = await issue(kit, refund, { token: kit.options.secondToken ?? null });
      expectProblem(exchange, "DUPLICATE_REQUEST_KEY");
    },
  },
]);
