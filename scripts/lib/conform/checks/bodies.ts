import { OPERATIONS, refundOf, subscriptionOf } from "../calls.ts";
import { type Check, defineGroup, type Exchange } from "../check.ts";
import { expectProblem, expectViolations } from "../expect.ts";
import type { Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";

const KIB = 1024;

/** What a body may be before its fields are looked at. */
export const BODY_CHECKS: Check[] = defineGroup(
  "Bodies",
  [NEEDS.token],
  [
    {
      id: "body.malformed",
      name: "answers 400 to what is not JSON, or is no body at all",
      sources: ["1.5", "D08"],
      run: (kit) =>
        sendToEach(
          kit,
          (good) => [good.slice(0, -1), `${good.slice(0, -1)},}`, `${good}{}`, "{", ""],
          (exchange) => expectViolations(exchange, [""], "the body is not JSON"),
        ),
    },
    {
      id: "body.not-an-object",
      name: "answers 400 to JSON that is not an object",
      sources: ["7.3", "8.3", "1.5"],
      run: (kit) =>
        sendToEach(
          kit,
          (good) => ["null", `[${good}]`, '"x"', "1"],
          (exchange) => expectViolations(exchange, [""], "the body is no object"),
        ),
    },
    {
      id: "body.bom",
      name: "answers 400 to a byte order mark",
      sources: ["D15"],
      run: (kit) =>
        sendToEach(
          kit,
          (good) => [`\uFEFF${good}`],
          (exchange) => expectViolations(exchange, [""], "the body begins with a byte order mark"),
        ),
    },
    {
      id: "body.utf-8",
      name: "answers 400 to bytes that are not UTF-8",
      sources: ["D15"],
      run: (kit) =>
        sendToEach(
          kit,
          (good) => [Buffer.from(good.replace("conform", "conf\u00f6rm"), "latin1")],
          (exchange) => expectViolations(exchange, [""], "the body is not UTF-8"),
        ),
    },
    {
      id: "body.duplicate-keys",
      name: "answers 400 to a key that stands twice, and points at it",
      sources: ["D15", "D07"],
      async run(kit) {
        const refund = JSON.stringify(refundOf(kit));
        const twice: readonly (readonly [body: string, pointer: string])[] = [
          [refund.replace("{", '{"requestKey":"a",'), "/requestKey"],
          [refund.replace("{", '{"request\\u004bey":"a",'), "/requestKey"],
          [refund.replace('"value"', '"value":0.01,"value"'), "/amount/value"],
        ];
        for (const [body, pointer] of twice) {
          const exchange = await kit.send({ operation: "issueRefund", body });
          expectViolations(exchange, [pointer], "the key stands twice");
        }
      },
    },
    {
      id: "body.depth",
      name: "reads JSON 32 levels deep and no deeper",
      sources: ["D15", "D07"],
      async run(kit) {
        // The object around them is the first level.
        const nested = (levels: number) =>
          JSON.stringify(refundOf(kit)).replace(
            "{",
            `{"nested":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)},`,
          );
        const issue = (levels: number) => kit.send({ operation: "issueRefund", body: nested(levels) });
        expectViolations(await issue(32), ["/nested"], "32 levels are read and the field is unknown");
        expectViolations(await issue(33), [""], "33 levels are too deep");
        expectProblem(await issue(10_000), "INVALID_REQUEST", "10,000 levels are too deep");
      },
    },
    {
      id: "body.too-large",
      name: "reads a body of 64 KiB and answers 413 to a larger one",
      sources: ["D15", "D08"],
      async run(kit) {
        for (const operation of OPERATIONS) {
          const send = (length: number) => kit.send({ operation, body: "{}".padStart(length) });
          expectProblem(await send(64 * KIB), "INVALID_REQUEST", "64 KiB are read and hold no field");
          expectProblem(await send(64 * KIB + 1), "PAYLOAD_TOO_LARGE");
        }
      },
    },
    {
      id: "body.unknown-field",
      name: "answers 400 to fields that the contract does not name, and points at each",
      sources: ["D15", "D07"],
      async run(kit) {
        const refund = refundOf(kit, {
          status: "AUTHORIZED",
          amount: { currency: "USD", value: 0.01, tip: 1 },
        });
        const subscription = subscriptionOf(kit, { merchantId: "other" });
        const unknown = "the contract does not name the field";
        const refunded = await kit.send({ operation: "issueRefund", body: refund });
        expectViolations(refunded, ["/status", "/amount/tip"], unknown);
        const subscribed = await kit.send({ operation: "subscribeToWebhooks", body: subscription });
        expectViolations(subscribed, ["/merchantId"], unknown);
      },
    },
  ],
);

/** Sends to each operation what is made of the text of a good body for it. */
async function sendToEach(
  kit: Kit,
  break_: (good: string) => readonly (string | Uint8Array)[],
  expectAnswer: (exchange: Exchange) => void,
): Promise<void> {
  for (const operation of OPERATIONS) {
    const good = operation === "issueRefund" ? refundOf(kit) : subscriptionOf(kit);
    for (const body of break_(JSON.stringify(good))) {
      expectAnswer(await kit.send({ operation, body, headers: { "Content-Type": "application/json" } }));
    }
  }
}
