import type { Exchange } from "../../reporting/exchange.ts";
import { assert, bodyOf, expectProblem } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { issue, paymentOf, refundOf } from "../valid-requests.ts";
import { expected } from "./expected.ts";

export const PAYMENT_CHECKS: Check[] = defineGroup("Payments", WITH_TOKEN, [
  expected(
    "payment.unknown",
    "responds with 404 to a payment that does not exist, whatever its id looks like",
    ["D08", "2.1"],
  ),
  {
    id: "payment.foreign",
    name: "responds to another merchant's payment as to one that does not exist",
    sources: ["D08"],
    preconditions: [PRECONDITIONS.payment, PRECONDITIONS.otherToken],
    async run(kit) {
      const token = kit.options.otherToken ?? null;
      const [known, none] = [paymentOf(kit), "pay_conform_unknown"];
      const foreign = await issue(kit, refundOf(kit, { paymentId: known }), { token });
      const unknown = await issue(kit, refundOf(kit, { paymentId: none }), { token });
      expectProblem(foreign, "PAYMENT_NOT_FOUND", "the payment is another merchant's");
      expectProblem(unknown, "PAYMENT_NOT_FOUND");
      // A response may name the payment of the call.
      const same = shown(foreign) === shown(unknown) || shown(foreign, known) === shown(unknown, none);
      assert(same, "the same response as to a payment that does not exist, but for its instance", foreign);
    },
  },
]);

/** The body, by which a caller could distinguish two responses, without what always differs, and its texts without another. */
function shown(exchange: Exchange, without = ""): string {
  return JSON.stringify({ ...bodyOf(exchange), instance: "" }, (_, value) =>
    typeof value === "string" ? value.replaceAll(without, "") : value,
  );
}
