import type { Contract } from "../../../openapi/document/contract.ts";
import { find, type Node } from "../../../openapi/document/node.ts";
import { type Check, defineGroup } from "../../reporting/check.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import type { ReceiverOptions } from "../options.ts";
import { type Event, exampleEvent, newRefund, refundEvent } from "./example-events.ts";
import { type Delivery, expectRefused, expectTaken, newWebhookId, type ReceiverKit } from "./kit.ts";

type ReceiverCheck = Check<ReceiverOptions, ReceiverKit>;

const BURST = 50;
/** The sections of a guide that explain what is expected. */
const ON_RULES = "receiving-webhooks.md#rules-for-handlers";
const ON_DELIVERIES = "receiving-webhooks.md#what-a-delivery-is";
const ON_SECRETS = "receiving-webhooks.md#choose-a-secret";
const ON_VERIFYING = "receiving-webhooks.md#without-a-library";

/** Ten minutes are twice what a timestamp may be off. */
const OFF_MS = 10 * 60_000;

/** Checks that only look at responses. */
export function responseChecks(contract: Contract): ReceiverCheck[] {
  return [...valid(contract), ...unknown, ...signatures];
}

const valid = (contract: Contract) =>
  defineGroup<ReceiverOptions, ReceiverKit>("Valid events", { guide: ON_DELIVERIES }, [
    {
      id: "response.redirect",
      name: "responds itself, because the service follows no redirect",
      sources: ["D24", "D23"],
      async run({ send }) {
        const { sent, received } = await send({});
        if (received.status < 300 || received.status > 399) return;
        throw new CheckFailure("no redirect: subscribe the address that it leads to", { sent, received });
      },
    },
    {
      id: "event.types",
      cases: ["PrestaShopCorp/ps_checkout#1546"],
      name: "responds with 2xx to each event of the contract",
      sources: ["D19", "D23"],
      async run({ send }: ReceiverKit) {
        for (const type of Object.keys(contract.document.webhooks as Node))
          expectTaken(await send({ event: exampleEvent(contract, type) }), `${type} is valid`);
      },
    },
    {
      id: "event.error-code",
      cases: ["PrestaShopCorp/ps_checkout#1546"],
      name: "responds with 2xx to each errorCode of a failed refund, and to one that it does not know",
      sources: ["D11", "D28"],
      async run({ send }: ReceiverKit) {
        for (const errorCode of [...errorCodes(contract), "CERTIFIED"]) {
          const data = { errorDetails: { errorCode, errorMessage: "Of the exam." } };
          const event = refundEvent(contract, "refund.terminal_failed", { refund: newRefund(), data });
          expectTaken(await send({ event }), `a refund can fail for ${errorCode}`);
        }
      },
    },
    {
      id: "event.repeated",
      name: "responds with 2xx to a delivery that comes twice with one webhook-id",
      sources: ["D23"],
      guide: ON_RULES,
      async run({ send }: ReceiverKit) {
        const delivery = { webhookId: newWebhookId() };
        expectTaken(await send(delivery), "the event is valid");
        expectTaken(await send(delivery), "a repeat is valid, too");
      },
    },
    {
      id: "event.late",
      name: "responds with 2xx to an event that happened hours ago",
      sources: ["D23", "D21"],
      async run({ send }: ReceiverKit) {
        const timestamp = new Date(Date.now() - 70 * 3_600_000).toISOString();
        const event = { ...exampleEvent(contract, "refund.authorized"), timestamp };
        expectTaken(
          await send({ event }),
          "only webhook-timestamp has to be recent, and the last attempt comes after days",
        );
      },
    },
  ]);

/** The codes of a failed refund that the contract lists. */
function errorCodes({ document }: Contract): readonly string[] {
  const [, schema] = find(document, "/components/schemas/RefundErrorDetails/properties/errorCode");
  return (schema as { "x-extensible-enum": readonly string[] })["x-extensible-enum"];
}

const taken = (id: string, name: string, toEvent: (event: Event) => object) => ({
  id: `unknown.${id}`,
  // A receiver that refuses all but some events fails these as well.
  after: id === "member" ? [] : ["event.types", "unknown.event"],
  name: `responds with 2xx to ${name}`,
  sources: ["D28", "D21"],
  async run({ send, contract }: ReceiverKit) {
    const event = refundEvent(contract, "refund.authorized", { refund: newRefund() });
    const delivery = { event, body: JSON.stringify(toEvent(event)) };
    expectTaken(await send(delivery), "later versions add what yours does not know");
  },
});

const unknown = defineGroup<ReceiverOptions, ReceiverKit>("Events of later versions", { guide: ON_RULES }, [
  taken("event", "an event that the contract does not have yet", (event) => ({
    ...event,
    type: "refund.certified",
  })),
  taken("member", "an event with more members, in another order", ({ data, ...event }) => ({
    certified: { list: [1, null] },
    data: { certifiedAt: event.timestamp, ...Object.fromEntries(Object.entries(data).reverse()) },
    ...event,
  })),
  taken("status", "a status that the contract does not have yet, and its event", ({ data, ...event }) => ({
    ...event,
    type: "refund.certified",
    data: { ...data, paymentStatus: "CERTIFIED" },
  })),
]);

const refused = (
  id: string,
  name: string,
  forgeries: (kit: ReceiverKit) => readonly Delivery[],
  guide = ON_VERIFYING,
) => ({
  id: `signature.${id}`,
  name: `responds with 4xx to ${name}`,
  sources: ["D22", "10.2"],
  guide,
  async run(kit: ReceiverKit) {
    for (const forgery of forgeries(kit)) expectRefused(await kit.send(forgery), `anybody can send ${name}`);
  },
});

const FOREIGN = "whsec_Zm9yZ2VkIGJ5IHRoZSBleGFtLCAyNCBieXRlcw==";
const WRONG = `v1,${Buffer.alloc(32, 7).toString("base64")}`;

const SIGNATURES = { after: ["signature.forged", "signature.list"] };

const signatures = defineGroup<ReceiverOptions, ReceiverKit>("Signatures", SIGNATURES, [
  refused("forged", "a delivery that another secret has signed", () => [{ secrets: [FOREIGN] }]),
  refused("none", "a delivery without a signature", () => [
    { headers: { "webhook-signature": null } },
    { headers: { "webhook-signature": null, "webhook-timestamp": null, "webhook-id": null } },
  ]),
  refused("list", "several signatures of which none is right", () => [
    { headers: { "webhook-signature": [WRONG, "v1,", "v1a,AAAA", "v2,AAAA"].join(" ") } },
    { secrets: [FOREIGN, `${FOREIGN}.`] },
  ]),
  refused(
    "empty-secret",
    "a delivery that an empty secret has signed",
    () => [{ secrets: [""] }],
    ON_SECRETS,
  ),
  refused("id", "a delivery whose webhook-id was changed", () => [
    { headers: { "webhook-id": newWebhookId() } },
  ]),
  refused(
    "timestamp",
    "a delivery that was signed ten minutes ago, or for in ten minutes",
    () => [{ at: new Date(Date.now() - OFF_MS) }, { at: new Date(Date.now() + OFF_MS) }],
    ON_RULES,
  ),
  refused("partial", "a signature of which a part is right", ({ sign, contract }) => {
    const event = exampleEvent(contract, "refund.authorized");
    const delivery = { webhookId: newWebhookId(), at: new Date(), body: JSON.stringify(event) };
    const right = (sign(delivery).headers["webhook-signature"] ?? "").slice("v1,".length);
    const begun = [0, 1, 8, 22, 36].map(
      (length) => right.slice(0, length) + WRONG.slice("v1,".length + length),
    );
    const ended = WRONG.slice("v1,".length, 11) + right.slice(8);
    const forged = [...begun, ended, right.slice(0, 22), right.toLowerCase(), right.toUpperCase(), ""];
    return forged.map((one) => ({ ...delivery, headers: { "webhook-signature": `v1,${one}` } }));
  }),
  {
    id: "signature.bytes",
    cases: ["razorpay/razorpay-node#128"],
    name: "verifies the bytes of the body, not the JSON in it",
    sources: ["D22", "D21"],
    guide: ON_RULES,
    async run({ send, contract }) {
      const event = exampleEvent(contract, "refund.authorized");
      const spelled = JSON.stringify(event, null, 1).replace('"USD"', '"\\u0055SD"');
      expectTaken(
        await send({ event, body: spelled }),
        "its bytes are signed, white space and escapes included",
      );
      expectRefused(
        await send({ event, tamper: (body) => `${body} ` }),
        "a byte was added after it was signed",
      );
    },
  },
  {
    id: "signature.rotated",
    name: "accepts a delivery of whose two signatures one matches",
    sources: ["D22"],
    guide: "receiving-webhooks.md#replace-your-secret",
    async run({ send, options: { secret } }) {
      for (const secrets of [
        [secret, FOREIGN],
        [FOREIGN, secret],
      ]) {
        expectTaken(await send({ secrets }), "one signature is right while a secret is replaced");
      }
    },
  },
]);

/** Comes last, because a receiver that is too slow may be at work for a while. */
export const loadChecks = defineGroup<ReceiverOptions, ReceiverKit>("Load", {}, [
  {
    id: "load.burst",
    name: `responds with 2xx to ${BURST} events at once, each in time`,
    sources: ["D23"],
    guide: ON_DELIVERIES,
    async run({ send }) {
      const sending = Array.from({ length: BURST }, () => send({}));
      for (const result of await Promise.allSettled(sending)) {
        if (result.status === "rejected") throw result.reason;
        expectTaken(result.value, "many refunds can be authorized in one moment");
      }
    },
  },
]);
