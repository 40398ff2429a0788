import { describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { isEventOf } from "../../conformance/checks/delivery-run.ts";
import { createDeliveryCheck } from "../../conformance/constraints/deliveries.ts";

describe("the errors of a delivery", () => {
  const check = createDeliveryCheck(readContract("openapi").document);
  const headers = {
    "content-type": "application/json",
    "webhook-id": "evt_1",
    "webhook-timestamp": "1764081000",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  };
  const event = "account.linked";
  const body = { type: event, timestamp: "2026-11-20T14:30:00.000Z", sequence: 1, data: { accountId: "a" } };

  test("are none when it is as documented", () => {
    expect(check({ event, headers, body })).toEqual([]);
  });

  test("name each header and each part of the body, all at once", () => {
    const wrong = { "webhook-timestamp": "soon", "webhook-signature": headers["webhook-signature"] };

    const errors = check({ event, headers: wrong, body: { ...body, sequence: 0 } });

    expect(errors).toEqual([
      "header webhook-id is missing",
      expect.stringMatching(/^header webhook-timestamp: .+/),
      "the media type is missing",
      expect.stringMatching(/^body: .*sequence/),
    ]);
  });

  test("name a media type and an event that the document does not have", () => {
    const text = { ...headers, "content-type": "text/plain" };

    expect(check({ event, headers: text, body })).toEqual(["the media type is text/plain"]);
    expect(check({ event: "account.lost", headers, body })).toEqual([
      "the document has no event account.lost",
    ]);
  });
});

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
