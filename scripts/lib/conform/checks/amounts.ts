import { issue, paymentOf, refundOf, refundWithLiteral } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { assert, expectProblem, expectRefund, expectViolations, isJson } from "../expect.ts";
import type { Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";

/** More than any payment: the largest amount that there is. */
const LARGEST = 9999999999.99;

export const AMOUNT_CHECKS: Check[] = defineGroup(
  "Amounts",
  [NEEDS.token],
  [
    {
      id: "amount.accepted",
      name: "takes 10, 10.0 and 10.00",
      sources: ["2.4", "12.1", "D13"],
      // Refunds of these fail, so that the tens are not taken from anybody.
      needs: [NEEDS.unrefundable],
      async run(kit) {
        const paymentId = paymentOf(kit, ["failed", "covered", "refund"]);
        for (const literal of ["10", "10.0", "10.00"]) {
          expectRefund(await issue(kit, refundWithLiteral(kit, literal, { paymentId })));
        }
      },
    },
    {
      id: "amount.cents",
      name: "holds an amount exactly: 0.07 stays 0.07",
      sources: ["2.4", "D13", "D09"],
      needs: [NEEDS.payment],
      async run(kit) {
        for (const literal of ["0.07", "0.1", "0.10"]) {
          const refund = refundWithLiteral(kit, literal);
          expectRefund(await issue(kit, refund));
          const exchange = await issue(kit, refund);
          const { existing } = expectProblem(exchange, "DUPLICATE_REQUEST_KEY");
          const amount = isJson(existing) && isJson(existing.amount) ? existing.amount : {};
          const same = amount.value === Number(literal) && amount.currency === "USD";
          assert(same, `existing.amount of ${literal} USD`, exchange);
        }
      },
    },
    {
      id: "amount.three-decimals",
      name: "answers 400 to more than two digits after the point, zeros included",
      sources: ["12.1", "2.4", "D13"],
      run: (kit) => refuse(kit, ["10.000", "10.001", "0.001", "10.005", "10.990000000000000001"]),
    },
    {
      id: "amount.exponent",
      name: "answers 400 to an amount with an exponent",
      sources: ["2.4", "D13"],
      run: (kit) => refuse(kit, ["1e1", "1E0", "1e-2", "1e400"]),
    },
    {
      id: "amount.string",
      name: "answers 400 to an amount that is a text",
      sources: ["2.4", "D13"],
      run: (kit) => refuse(kit, ['"10.00"', '"1"']),
    },
    {
      id: "amount.not-positive",
      name: "answers 400 to an amount of zero or less",
      sources: ["D13"],
      run: (kit) => refuse(kit, ["0", "0.00", "-0", "-1", "-0.01"]),
    },
    {
      id: "amount.too-large",
      name: "answers 400 to an amount above 9999999999.99",
      sources: ["D13"],
      run: (kit) => refuse(kit, ["10000000000", "99999999999999.99"]),
    },
    {
      id: "amount.currency",
      name: "answers 400 to another currency than USD",
      sources: ["2.3", "12.2"],
      async run(kit) {
        for (const currency of ["EUR", "usd", "USD ", ""]) {
          const exchange = await issue(kit, refundOf(kit, { amount: { currency, value: 0.01 } }));
          expectViolations(exchange, ["/amount/currency"]);
        }
      },
    },
    {
      id: "amount.exceeds",
      name: "answers 201 TERMINAL_FAILED to a refund of more than is left, with AMOUNT_EXCEEDS_REFUNDABLE",
      sources: ["D11", "D12", "11.1"],
      needs: [NEEDS.refundable],
      async run(kit) {
        const paymentId = paymentOf(kit, ["recent", "processing", "settled"]);
        const refund = refundOf(kit, { paymentId, amount: { currency: "USD", value: LARGEST } });
        expectRefund(await issue(kit, refund), {
          paymentStatus: "TERMINAL_FAILED",
          errorCode: "AMOUNT_EXCEEDS_REFUNDABLE",
        });
      },
    },
  ],
);

async function refuse(kit: Kit, literals: readonly string[]): Promise<void> {
  for (const literal of literals) {
    const exchange = await issue(kit, refundWithLiteral(kit, literal));
    expectViolations(exchange, ["/amount/value"], `${literal} is no amount`);
  }
}
