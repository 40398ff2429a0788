import { expect, test } from "vitest";
import { fill } from "../../conformance/checks/scenarios.ts";

const scope = { inputs: { id: "pay_1" }, response: { body: { existing: { status: "PENDING" } } } };

test("the values of a scenario's step are literals and expressions, also in objects and lists", () => {
  const value = {
    id: "$inputs.id",
    deep: { status: "$response.body#/existing/status" },
    ids: ["a", "$inputs.id"],
  };

  expect(fill(value, scope)).toEqual({ id: "pay_1", deep: { status: "PENDING" }, ids: ["a", "pay_1"] });
  expect(fill(["$5", 1], scope)).toEqual(["$5", 1]);
});

test("an expression in braces is refused, not sent as it is", () => {
  expect(() => fill({ id: "payment-{$inputs.id}" }, scope)).toThrow(
    "a value of another form: payment-{$inputs.id}",
  );
});
