import { expect, test } from "vitest";
import { isEventOf } from "../../conformance/checks/delivery-run.ts";

test.each<[name: string, changes: object, expected: boolean]>([
  ["repeats it", {}, true],
  ["has a member of a later version besides", { channel: "WEB" }, true],
  ["says otherwise", { amount: { currency: "USD", value: 2 } }, false],
  ["leaves something out", { requestKey: undefined }, false],
  ["names an error that the response did not", { errorDetails: { errorCode: "A" } }, false],
  ["sends the misspelt reference back", { clientRefefenceId: "order-1" }, false],
])("an event that %s is one of the refund: %s", (_, changes, expected) => {
  const refund = { paymentId: "pay_1", amount: { currency: "USD", value: 1 }, requestKey: "a" };

  expect(isEventOf(refund, { ...refund, ...changes })).toBe(expected);
});
