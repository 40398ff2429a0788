import { issue, paymentOf, refundOf } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { expectProblem, expectRefund, type ProblemCode } from "../expect.ts";
import type { CallSpec } from "../kit.ts";
import { NEEDS } from "../needs.ts";

/** A call with every fault at once; each step mends one more, and the next fault answers. */
type Step = { readonly answer: ProblemCode; readonly mend: CallSpec };

export const ORDER_CHECKS: Check[] = defineGroup(
  "Order of checks",
  [NEEDS.token],
  [
    {
      id: "order.head",
      name: "checks path, method, token, scope, Accept, Content-Type, size and body in this order",
      sources: ["D08a"],
      async run(kit) {
        const { unscopedToken, token } = kit.options;
        const steps: Step[] = [
          { answer: "NOT_FOUND", mend: {} },
          { answer: "METHOD_NOT_ALLOWED", mend: { path: kit.contract.operation("issueRefund").path } },
          { answer: "UNAUTHORIZED", mend: { method: "POST" } },
          ...(unscopedToken ? [{ answer: "FORBIDDEN", mend: { token: unscopedToken } } as const] : []),
          { answer: "NOT_ACCEPTABLE", mend: { token: token ?? null } },
          { answer: "UNSUPPORTED_MEDIA_TYPE", mend: { headers: { "Content-Type": "text/plain" } } },
          { answer: "PAYLOAD_TOO_LARGE", mend: { headers: {} } },
          { answer: "INVALID_REQUEST", mend: { body: refundOf(kit, { amount: 1 }) } },
        ];
        let call: CallSpec = {
          operation: "issueRefund",
          path: "/v1/refund",
          method: "PUT",
          token: "conform-nobody",
          headers: { Accept: "text/xml", "Content-Type": "text/plain" },
          body: "x".repeat(70_000),
        };
        for (const { answer, mend } of steps) {
          call = { ...call, ...mend };
          expectProblem(await kit.send(call), answer, "of all faults of this call that one comes first");
        }
      },
    },
    {
      id: "order.body-before-key",
      name: "checks the body before the requestKey, and the requestKey before the payment",
      sources: ["D08a", "D09"],
      needs: [NEEDS.payment],
      async run(kit) {
        const refund = refundOf(kit);
        expectRefund(await issue(kit, refund));
        const unknown = { ...refund, paymentId: `${paymentOf(kit)}-unknown`.slice(-64) };
        const broken = await issue(kit, { ...unknown, amount: 1 });
        expectProblem(broken, "INVALID_REQUEST", "the body comes before the used requestKey");
        const repeated = await issue(kit, unknown);
        expectProblem(
          repeated,
          "DUPLICATE_REQUEST_KEY",
          "the used requestKey comes before the unknown payment",
        );
        const fresh = await issue(kit, { ...unknown, requestKey: kit.newKey() });
        expectProblem(fresh, "NOT_FOUND", "the payment is unknown");
      },
    },
  ],
);
