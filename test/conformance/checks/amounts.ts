import { isNode } from "../../../openapi/document/node.ts";
import { assert, expectProblem, expectRefund } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, paymentOf, refundOf } from "../valid-requests.ts";
import { expected } from "./expected.ts";

/** More than any payment: the largest amount that there is. */
const LARGEST = 9999999999.99;

export const AMOUNT_CHECKS: Check[] = defineGroup("Amounts", WITH_TOKEN, [
  expected("amount.accepted", "takes amounts of up to two digits after the point", ["2.4", "12.1", "D13"]),
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
  expected(
    "amount.three-decimals",
    "responds with 400 to more than two digits after the point, zeros included",
    ["12.1", "2.4", "D13"],
  ),
  expected(
    "amount.exponent",
    "reads an amount with an exponent as written out: takes 1E+1, refuses 1.0000E1",
    ["2.4", "D13"],
  ),
  expected(
    "amount.printed-double",
    "reads a double that is printed with 17 digits as its amount: 131072.01000000001 is 131072.01",
    ["2.4", "D13"],
  ),
  expected("amount.string", "responds with 400 to an amount that is a text", ["2.4", "D13"]),
  expected("amount.not-positive", "responds with 400 to an amount of zero or less", ["D13"]),
  expected("amount.too-large", "responds with 400 to an amount above 9999999999.99", ["D13"]),
  expected("amount.currency", "responds with 400 to another currency than USD", ["2.3", "12.2"]),
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
