import { expectProblem, expectRefund, type ProblemCode } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { INVALID_BODY, issue, paymentOf, refundOf } from "../valid-requests.ts";

/** A defect of a request, and the error code that it gets. */
type Wrong = { readonly code: ProblemCode; readonly call: CallSpec };

export const ORDER_CHECKS: Check[] = defineGroup("Order of checks", WITH_TOKEN, [
  {
    id: "order.head",
    name: "checks path, method, token, scope, Accept, Content-Type, size and body in this order",
    sources: ["D08a"],
    async run(kit) {
      const wrongs = wrongsOf(kit);
      for (const [index, first] of wrongs.entries()) {
        for (const second of wrongs.slice(index + 1)) {
          // A call has only one token, which can't be both unknown and without a scope.
          if (first.call.token && second.call.token) continue;
          const exchange = await kit.send(both(first.call, second.call));
          expectProblem(exchange, first.code, `it comes before ${second.code}`);
        }
      }
    },
  },
  {
    id: "order.body-before-key",
    name: "checks the body before the requestKey, and the requestKey before the payment",
    sources: ["D08a", "D09"],
    preconditions: [PRECONDITIONS.payment],
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
      expectProblem(fresh, "PAYMENT_NOT_FOUND", "the payment is unknown");
    },
  },
]);

/** In the order in which a service must report them. */
function wrongsOf(kit: Kit): Wrong[] {
  const { unscopedToken } = kit.options;
  return [
    { code: "NOT_FOUND", call: { path: "/v1/refund" } },
    { code: "METHOD_NOT_ALLOWED", call: { method: "PUT" } },
    { code: "UNAUTHORIZED", call: { token: "conform-nobody" } },
    ...(unscopedToken ? [{ code: "FORBIDDEN", call: { token: unscopedToken } } as const] : []),
    { code: "NOT_ACCEPTABLE", call: { headers: { Accept: "text/xml" } } },
    { code: "UNSUPPORTED_MEDIA_TYPE", call: { headers: { "Content-Type": "text/plain" } } },
    { code: "PAYLOAD_TOO_LARGE", call: { body: "x".repeat(70_000) } },
    { code: "INVALID_REQUEST", call: { body: refundOf(kit, { amount: 1 }) } },
  ];
}

/** A call with both errors; a body that is too large is also malformed. */
function both(first: CallSpec, second: CallSpec): CallSpec {
  const headers = { ...second.headers, ...first.headers };
  return { operation: "issueRefund", body: INVALID_BODY, ...second, ...first, headers };
}
