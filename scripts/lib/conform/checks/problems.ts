import { issue, refundOf } from "../calls.ts";
import { type Check, defineGroup } from "../check.ts";
import { assert, bodyOf, expectProblem, expectViolations, isJson, violationsOf } from "../expect.ts";
import { NEEDS } from "../needs.ts";

/** How a 400 tells what is wrong. What every problem has to be is looked at in all answers, at the end. */
export const PROBLEM_CHECKS: Check[] = defineGroup(
  "Problems",
  [NEEDS.token],
  [
    {
      id: "violation.missing-field",
      name: "points at each missing field where it should stand",
      sources: ["D07", "2.1", "2.2", "2.8"],
      async run(kit) {
        expectViolations(await issue(kit, {}), ["/paymentId", "/amount", "/requestKey"], "they are required");
        const amountless = refundOf(kit, { amount: {} });
        expectViolations(
          await issue(kit, amountless),
          ["/amount/currency", "/amount/value"],
          "they are required",
        );
      },
    },
    {
      id: "violation.all-at-once",
      name: "tells all faults of a body at once, one violation for each",
      sources: ["D07"],
      async run(kit) {
        const body =
          '{"paymentId":1,"amount":{"currency":"EUR","value":1.001},"status":1,' +
          '"clientReferenceId":"a","clientRefefenceId":"b"}';
        const pointers = ["/paymentId", "/amount/currency", "/amount/value", "/requestKey", "/status"];
        expectViolations(await issue(kit, body), [...pointers, "/clientRefefenceId"], "each is a fault");
      },
    },
    {
      id: "violation.escaped",
      name: "writes violations as JSON Pointers, with names escaped",
      sources: ["D07"],
      async run(kit) {
        const exchange = await issue(kit, refundOf(kit, { "a/b": 1, "a~b": 1 }));
        expectViolations(exchange, ["/a~1b", "/a~0b"], "the contract does not name them");
      },
    },
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
      name: "tells of 20 faults and no more",
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
        assert(
          proper && instances[0] !== instances[1],
          "another urn:uuid: in each problem's instance",
          second,
        );
      },
    },
    {
      id: "problem.reason",
      name: "gives the reason of a problem where a reader of a failed refund finds it",
      sources: ["D07", "3.4", "11.4"],
      async run(kit) {
        const exchange = await issue(kit, {});
        const { errorDetails } = bodyOf(exchange);
        const told =
          isJson(errorDetails) &&
          typeof errorDetails.errorCode === "string" &&
          typeof errorDetails.errorMessage === "string";
        assert(told, "errorDetails with errorCode and errorMessage", exchange);
      },
    },
  ],
);
