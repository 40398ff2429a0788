/** The checks of the fields of a refund: amounts, currency, reference. */
import { isNode } from "../../../openapi/document/document-node.ts";
import { assert, bodyOf, expectProblem, expectRefund } from "../assertions.ts";
import { type Check, defineGroup, PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, paymentOf, refundOf } from "../valid-requests.ts";
import { casesCheck } from "./request-cases.ts";

/** More than any payment: the largest amount that there is. */
const LARGEST = 9999999999.99;

export const AMOUNT_CHECKS: Check[] = defineGroup("Amounts", WITH_TOKEN, [
  casesCheck("amount.accepted", "accepts amounts with up to two digits after the point", [
    "2.4",
    "12.1",
    "D13",
  ]),
  {
    id: "amount.cents",
    name: "holds an amount exactly: 0.07 stays 0.07",
    sources: ["2.4", "D13", "D09"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      for (const literal of ["0.07", "0.1", "0.10"]) {
        const marked = refundOf(kit, { amount: { currency: "USD", value: "MARK" } });
        const refund = JSON.stringify(marked).replace('"MARK"', literal);
        expectRefund(await issue(kit, refund));
        const exchange = await issue(kit, refund);
        const { existing } = expectProblem(exchange, "DUPLICATE_REQUEST_KEY");
        const amount = isNode(existing) && isNode(existing.amount) ? existing.amount : {};
        const same = amount.value === Number(literal) && amount.currency === "USD";
        assert(same, `existing.amount of ${literal} USD`, exchange);
      }
    },
  },
  casesCheck(
    "amount.three-decimals",
    "responds with 400 to more than two digits after the point, zeros included",
    ["12.1", "2.4", "D13"],
  ),
  casesCheck(
    "amount.exponent",
    "reads an amount with an exponent as written out: takes 1E+1, refuses 1.0000E1",
    ["2.4", "D13"],
  ),
  casesCheck(
    "amount.printed-double",
    "reads a double that is printed with 17 digits as its amount: 131072.01000000001 is 131072.01",
    ["2.4", "D13"],
  ),
  {
    id: "amount.exceeds",
    name: "responds with 201 TERMINAL_FAILED to a refund of more than is left, with AMOUNT_EXCEEDS_REFUNDABLE",
    sources: ["D11", "D12", "11.1"],
    preconditions: [PRECONDITIONS.refundable],
    async run(kit) {
      const paymentId = paymentOf(kit, ["recent", "processing", "settled"]);
      const refund = refundOf(kit, { paymentId, amount: { currency: "USD", value: LARGEST } });
      expectRefund(await issue(kit, refund), {
        paymentStatus: "TERMINAL_FAILED",
        errorCode: "AMOUNT_EXCEEDS_REFUNDABLE",
      });
    },
  },
]);

export const REFERENCE_CHECKS: Check[] = defineGroup("References and descriptors", WITH_TOKEN, [
  casesCheck("reference.echo", "returns clientReferenceId as it was sent", ["3.3", "2.5"]),
  {
    id: "reference.null-when-absent",
    name: "returns clientReferenceId as null when none was sent",
    sources: ["3.3", "D06"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      expectRefund(await issue(kit, refundOf(kit)), { clientReferenceId: null });
    },
  },
  casesCheck(
    "reference.misspelling-accepted",
    "accepts the misspelling clientRefefenceId instead of clientReferenceId or beside it, and never returns it",
    ["2.6", "3.3", "D01"],
  ),
  casesCheck(
    "reference.conflict",
    "responds with 400 to two spellings that differ, and points at the misspelt one",
    ["D01", "2.6"],
  ),
  {
    id: "refund.own-id",
    name: "gives each refund a paymentId of its own",
    sources: ["3.1"],
    preconditions: [PRECONDITIONS.payment],
    async run(kit) {
      const refund = refundOf(kit);
      const first = expectRefund(await issue(kit, refund));
      const exchange = await issue(kit, { ...refund, requestKey: kit.newKey() });
      const { paymentId } = bodyOf(exchange);
      const ids = new Set([refund.paymentId, first.paymentId, paymentId]);
      assert(ids.size === 3, "a paymentId that neither the payment nor another refund has", exchange);
    },
  },
]);
