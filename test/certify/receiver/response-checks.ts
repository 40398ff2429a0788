/** The exam's checks of how a receiver responds to events, valid, unknown and wrongly signed. */
import { find, type Node } from "../../../openapi/document/document-node.ts";
import type { Contract } from "../../../openapi/document/read-contract.ts";
import { type Check, defineGroup, given } from "../../reporting/check.ts";
import { expectNoSecrets } from "../hooks.ts";
import type { ReceiverOptions } from "../options.ts";
import { type Event, exampleEvent, newRefund, type RefundEvent, refundEvent } from "./example-events.ts";
import { type Delivery, expectRefused, expectTaken, newWebhookId, type ReceiverKit } from "./kit.ts";

type ReceiverCheck = Check<ReceiverOptions, ReceiverKit>;

const BURST = 50;
/** The sections of a guide that explain what is expected. */
const ON_RULES = "receiving-webhooks.md#rules-for-handlers";
const ON_DELIVERIES = "receiving-webhooks.md#what-a-delivery-is";
const ON_SECRETS = "receiving-webhooks.md#choose-a-secret";
const ON_VERIFYING = "receiving-webhooks.md#without-a-library";

/** Ten minutes are twice what a timestamp may be off; two minutes are less than half of it. */
const [OFF_MS, CLOCKS_MS] = [10 * 60_000, 2 * 60_000];

export function responseChecks(contract: Contract): ReceiverCheck[] {
  return [...valid(contract), ...unknown, ...signatures];
}

type Accepted = Pick<ReceiverCheck, "sources" | "cases" | "after" | "guide"> & {
  readonly because: string;
  readonly deliveries: (kit: ReceiverKit) => readonly Delivery[];
};

/** A check that a receiver accepts each of these, one after the other. */
const accepted = (id: string, name: string, { because, deliveries, ...parts }: Accepted) => ({
  id,
  name: `responds with 2xx to ${name}`,
  ...parts,
  async run(kit: ReceiverKit) {
    for (const delivery of deliveries(kit)) expectTaken(await kit.send(delivery), because);
  },
});

const valid = (contract: Contract) =>
  defineGroup<ReceiverOptions, ReceiverKit>("Valid events", { guide: ON_DELIVERIES }, [
    accepted("event.types", "each event of the contract", {
      cases: ["PrestaShopCorp/ps_checkout#1546"],
      because: "the event is valid",
      sources: ["D19", "D23"],
      deliveries: () =>
        Object.keys(contract.document.webhooks as Node).map((type) => ({
          event: exampleEvent(contract, type),
        })),
    }),
    accepted("event.reference", "an event of a refund without a reference", {
      after: ["event.types"],
      because: "a refund may be issued without a clientReferenceId",
      sources: ["D06", "3.3"],
      deliveries: () => [{ event: eventOf(contract, "refund.authorized", { clientReferenceId: null }) }],
    }),
    accepted("event.headers", "a delivery of which a proxy has capitalized the header names", {
      because: "the case of a header name means nothing in HTTP",
      sources: ["D22"],
      deliveries: () => [{ spell: (name) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()) }],
    }),
    accepted("event.error-code", "each errorCode of a failed refund, and to one that it does not know", {
      cases: ["PrestaShopCorp/ps_checkout#1546"],
      because: "a refund can fail for it",
      sources: ["D11", "D28"],
      deliveries: () =>
        [...errorCodes(contract), "CERTIFIED"].map((errorCode) => {
          const errorDetails = { errorCode, errorMessage: "Of the exam." };
          return { event: eventOf(contract, "refund.terminal_failed", { errorDetails }) };
        }),
    }),
    accepted("event.repeated", "a delivery that comes twice with one webhook-id", {
      because: "a repeat is valid, too",
      sources: ["D23"],
      guide: ON_RULES,
      deliveries: () => Array(2).fill({ webhookId: newWebhookId() }),
    }),
    accepted("event.late", "an event that happened hours ago, and while clocks differ by two minutes", {
      because:
        "only webhook-timestamp has to be recent, two clocks differ, and the last attempt comes after days",
      sources: ["D23", "D21"],
      deliveries: () => {
        const timestamp = new Date(Date.now() - 70 * 3_600_000).toISOString();
        const event = { ...exampleEvent(contract, "refund.authorized"), timestamp };
        return [0, -CLOCKS_MS, CLOCKS_MS].map((offMs) => ({ event, at: new Date(Date.now() + offMs) }));
      },
    }),
  ]);

/** The codes of a failed refund that the contract lists. */
function errorCodes({ document }: Contract): readonly string[] {
  const [, schema] = find(document, "/components/schemas/RefundErrorDetails/properties/errorCode");
  return (schema as { "x-extensible-enum": readonly string[] })["x-extensible-enum"];
}

const eventOf = (contract: Contract, type: RefundEvent, data: Node = {}) =>
  refundEvent(contract, type, { refund: newRefund(), data });

const later = (id: string, name: string, toEvent: (event: Event) => object) =>
  accepted(`unknown.${id}`, name, {
    // A receiver that refuses all but some events fails these as well.
    after: id === "member" ? [] : ["event.types", "unknown.event"],
    because: "later versions add what yours does not know",
    sources: ["D28", "D21"],
    deliveries({ contract }) {
      const event = eventOf(contract, "refund.authorized");
      return [{ event, body: JSON.stringify(toEvent(event)) }];
    },
  });

const unknown = defineGroup<ReceiverOptions, ReceiverKit>("Events of later versions", { guide: ON_RULES }, [
  later("event", "an event of a kind that the contract does not have yet", (event) => ({
    ...event,
    type: "certificate.issued",
    data: { certificateId: "crt_1" },
  })),
  later("member", "an event with more members, in another order", ({ data, ...event }) => ({
    certified: { list: [1, null] },
    data: { certifiedAt: event.timestamp, ...Object.fromEntries(Object.entries(data).reverse()) },
    ...event,
  })),
  later("status", "a status that the contract does not have yet, and its event", ({ data, ...event }) => ({
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
  refused("empty-secret", "a delivery signed by an empty secret", () => [{ secrets: [""] }], ON_SECRETS),
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
      const spelled = JSON.stringify(event, null, 1)
        .replace('"USD"', '"\\u0055SD"')
        .replace("certify-", "Größe-€-");
      expectTaken(
        await send({ event, body: spelled }),
        "its bytes are signed, white space, escapes and letters beyond ASCII included",
      );
      expectRefused(
        await send({ event, tamper: (body) => `${body} ` }),
        "a byte was added after it was signed",
      );
    },
  },
  accepted("signature.rotated", "a delivery of whose two signatures one matches", {
    because: "one signature is right while a secret is replaced",
    sources: ["D22"],
    guide: "receiving-webhooks.md#replace-your-secret",
    deliveries: ({ options: { secret } }) => [{ secrets: [secret, FOREIGN] }, { secrets: [FOREIGN, secret] }],
  }),
]);

/** Comes last, because a receiver that is too slow may be at work for a while. */
export const lastChecks = defineGroup<ReceiverOptions, ReceiverKit>("Load and secrets", {}, [
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
  {
    id: "output.secret",
    name: "prints no secret",
    sources: ["10.2", "D22"],
    guide: ON_SECRETS,
    preconditions: [given("state")],
    run: ({ options: { secret } }) => expectNoSecrets([secret]),
  },
]);
