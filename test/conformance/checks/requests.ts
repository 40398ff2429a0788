/** The checks of any request: path, method, access, headers and JSON. */
import {
  assert,
  bodyOf,
  expectProblem,
  expectRefund,
  type ProblemCode,
  violationsOf,
} from "../assertions.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { type Check, defineGroup, PRECONDITIONS, WITH_TOKEN } from "../preconditions.ts";
import { INVALID_BODY, issue, paymentOf, refundOf } from "../valid-requests.ts";
import { casesCheck } from "./request-cases.ts";

/** Paths and methods; a path that does not exist needs no token (D08). */
const paths = defineGroup("Paths and methods", {}, [
  casesCheck("path.unknown", "responds with 404 to a path that does not exist", ["13.1", "D08", "D15"]),
  casesCheck("path.case", "responds with 404 to a path in another case", ["7.1", "8.1", "D15"]),
  casesCheck("path.trailing-slash", "responds with 404 to a path with a trailing slash", [
    "7.1",
    "8.1",
    "D15",
  ]),
  casesCheck("method.not-allowed", "responds with 405 and Allow: POST to every other method", [
    "7.1",
    "8.1",
    "D08",
  ]),
]);

const access = defineGroup("Access", {}, [
  casesCheck("access.unknown-token", "responds with 401 to an unknown token", ["9.1", "D08"]),
  {
    ...casesCheck("access.scheme-case", "accepts the word Bearer in any case", ["D18"]),
    preconditions: [PRECONDITIONS.token],
  },
  casesCheck("access.scope", "responds with 403 to a token without the scope of the operation", [
    "D18",
    "D08",
  ]),
]);

const mediaTypes = defineGroup("Media types", WITH_TOKEN, [
  casesCheck("accept.absent", "serves requests without Accept", ["8.2", "D04"]),
  casesCheck("accept.no-json", "responds with 406 when Accept rules out JSON", ["7.2", "8.2", "D04"]),
  casesCheck("accept.problem-type", "sends a problem in the media type that Accept asks for", ["D07", "7.2"]),
]);

/** The body as a whole, before its fields are validated. */
const bodies = defineGroup("Bodies", WITH_TOKEN, [
  casesCheck("body.malformed", "responds with 400 to a body that is not JSON, and to none at all", [
    "1.5",
    "D08",
  ]),
  casesCheck("body.bom", "responds with 400 to a byte order mark", ["D15"]),
  casesCheck("body.utf-8", "responds with 400 to bytes that are not UTF-8", ["D15"]),
  casesCheck("body.duplicate-keys", "responds with 400 to a duplicate key, and points at it", ["D15", "D07"]),
  casesCheck("body.depth", "reads JSON 32 levels deep and no deeper", ["D15", "D07"]),
  casesCheck("body.too-large", "reads a body of 64 KiB and responds with 413 to a larger one", [
    "D15",
    "D08",
  ]),
]);

/** Rules for requests to either operation, before their fields are validated. */
export const REQUEST_CHECKS: Check[] = [...paths, ...access, ...mediaTypes, ...bodies];

/** A defect of a request, and the error code that it gets. */
type Wrong = { readonly code: ProblemCode; readonly call: CallSpec };

export const ORDER_CHECKS: Check[] = defineGroup("Order of checks", WITH_TOKEN, [
  {
    id: "order.head",
    name: "checks path, method, token, scope, Accept, Content-Type, size and body in this order",
    sources: ["D08"],
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
    sources: ["D08", "D09"],
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

/** How a 400 reports violations. The rules for every problem are checked on all responses, at the end of the run. */
export const PROBLEM_CHECKS: Check[] = defineGroup("Problems", WITH_TOKEN, [
  casesCheck(
    "violation.all-at-once",
    "reports everything that is wrong with a body at once, one violation for each",
    ["D07"],
  ),
  casesCheck("violation.escaped", "writes violations as JSON Pointers, with names escaped", ["D07"]),
  {
    id: "violation.limit",
    name: "reports 20 violations and no more",
    sources: ["D07"],
    async run(kit) {
      const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, 0]));
      const exchange = await issue(kit, refundOf(kit, many));
      const { length } = violationsOf(expectProblem(exchange, "INVALID_REQUEST"));
      assert(length === 20, "400 with 20 of the 30 violations", exchange);
    },
  },
  {
    id: "problem.instance",
    name: "gives each problem an instance of its own",
    sources: ["D07"],
    async run(kit) {
      const first = await issue(kit, {});
      const second = await issue(kit, {});
      const instances = [first, second].map((exchange) => bodyOf(exchange).instance);
      const proper = instances.every(
        (instance) => typeof instance === "string" && /^urn:uuid:[0-9a-f-]{36}$/.test(instance),
      );
      assert(
        proper && instances[0] !== instances[1],
        "a urn:uuid: of its own as the instance of each problem",
        second,
      );
    },
  },
]);
