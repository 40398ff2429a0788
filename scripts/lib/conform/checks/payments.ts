import { issue, paymentOf, refundOf } from "../calls.ts";
import { type Check, defineGroup, type Exchange } from "../check.ts";
import { assert, bodyOf, expectProblem } from "../expect.ts";
import { NEEDS } from "../needs.ts";

export const PAYMENT_CHECKS: Check[] = defineGroup(
  "Payments",
  [NEEDS.token],
  [
    {
      id: "payment.unknown",
      name: "answers 404 to a payment that does not exist, whatever its id looks like",
      sources: ["D08", "2.1"],
      async run(kit) {
        for (const paymentId of ["pay_conform_unknown", "' or 1=1 --", "../../etc/passwd", "😀"]) {
          expectProblem(await issue(kit, refundOf(kit, { paymentId })), "NOT_FOUND");
        }
      },
    },
    {
      id: "payment.foreign",
      name: "answers to another merchant's payment as to one that does not exist",
      sources: ["D08"],
      needs: [NEEDS.payment, NEEDS.otherToken],
      async run(kit) {
        const token = kit.options.otherToken ?? null;
        const foreign = await issue(kit, refundOf(kit, { paymentId: paymentOf(kit) }), { token });
        const unknown = await issue(kit, refundOf(kit, { paymentId: "pay_conform_unknown" }), { token });
        expectProblem(foreign, "NOT_FOUND", "the payment is another merchant's");
        expectProblem(unknown, "NOT_FOUND");
        const same = shown(foreign) === shown(unknown);
        assert(same, "the same answer as to a payment that does not exist, but for its instance", foreign);
      },
    },
  ],
);

/** All that a caller could tell two answers apart by, besides what differs anyway. */
function shown(exchange: Exchange): string {
  const { status, headers } = exchange.received;
  return JSON.stringify([status, [...headers.keys()], { ...bodyOf(exchange), instance: "" }]);
}
