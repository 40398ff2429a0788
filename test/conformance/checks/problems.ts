import { isNode } from "../../../openapi/document/node.ts";
import { assert, bodyOf, expectProblem, violationsOf } from "../assertions.ts";
import { type Check, defineGroup } from "../check.ts";
import { WITH_TOKEN } from "../preconditions.ts";
import { issue, refundOf } from "../valid-requests.ts";
import { expected } from "./expected.ts";

/** How a 400 reports violations. The rules for every problem are checked on all responses, at the end of the run. */
export const PROBLEM_CHECKS: Check[] = defineGroup("Problems", WITH_TOKEN, [
  expected("violation.missing-field", "points at each missing field where it should stand", [
    "D07",
    "2.1",
    "2.2",
    "2.8",
  ]),
  expected(
    "violation.all-at-once",
    "reports everything that is wrong with a body at once, one violation for each",
    ["D07"],
  ),
  expected("violation.escaped", "writes violations as JSON Pointers, with names escaped", ["D07"]),
  {
    id: "violation.message",
    name: "says with each violation what is wrong",
    sources: ["D07"],
    async run(kit) {
      const exchange = await issue(kit, {});
      const violations = violationsOf(expectProblem(exchange, "INVALID_REQUEST"));
      const said = violations.every(({ message }) => typeof message === "string" && message !== "");
      assert(violations.length > 0 && said, "a message with each violation", exchange);
    },
  },
  {
    id: "violation.limit",
    name: "reports 20 violations and no more",
    sources: ["D07"],
    async run(kit) {
      const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, 0]));
      const exchange = await issue(kit, refundOf(kit, many));
      const { length } = violationsOf(expectProblem(exchange, "INVALID_REQUEST"));
      assert(length === 20, "400 with 20 violations of the 30 that there are", exchange);
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
      assert(proper && instances[0] !== instances[1], "another urn:uuid: in each problem's instance", second);
    },
  },
  {
    id: "problem.reason",
    name: "gives the reason of a problem where a reader of a failed refund finds it",
    sources: ["D07", "3.4", "11.4"],
    async run(kit) {
      const exchange = await issue(kit, {});
      const { errorDetails } = bodyOf(exchange);
      const detailed =
        isNode(errorDetails) &&
        typeof errorDetails.errorCode === "string" &&
        typeof errorDetails.errorMessage === "string";
      assert(detailed, "errorDetails with errorCode and errorMessage", exchange);
    },
  },
]);
