import { valueAt } from "../../../openapi/document/pointer.ts";
import { type Received, startReceiver } from "../../helpers/receiver.ts";

/** The body of a delivery, and the words that a program has to print about it after `event<index>=`. */
export type EventCase = { readonly check: "g" | "h" | "j"; readonly body: string; readonly expected: string };

type Event = Received["event"];

/** What a program prints of the events that have it, in this order, after type, sequence and timestamp. */
const FIELDS = [
  "/paymentId",
  "/paymentStatus",
  "/status",
  "/clientReferenceId",
  "/originalPaymentId",
  "/amount/value",
  "/requestKey",
  "/errorDetails/errorCode",
  "/accountId",
  "/customerId",
];

const NAMES = [
  ...["refund.pending", "refund.authorized", "refund.terminal_failed"],
  ...["payment.settled", "payment.failed", "payment.covered"],
  ...["account.linked", "account.unlinked", "customer.created"],
];

/**
 * Makes each of the nine events happen in the sandbox, whose calls `post` sends, and resolves with their deliveries, by name
 * of the event. `subscribe` gets the address of the receiver.
 */
export async function receiveEvents(
  post: (path: string, body: object) => Promise<Record<string, string>>,
  isLater: boolean,
  subscribe: (url: string) => Promise<void>,
): Promise<Received[]> {
  await using receiver = await startReceiver();
  const amount = { currency: "USD", value: 25.5 };
  const original = async (status: string) => (await post("/sandbox/payments", { amount, status })).paymentId;
  const [settled, failing, covered] = [
    await original("SETTLED"),
    await original("SETTLED"),
    await original("SETTLED"),
  ];
  const processing = await original("PROCESSING");
  await subscribe(receiver.url);
  const refund = { amount, requestKey: "events-1", clientReferenceId: "order-7" };
  await post("/v1/refunds", { amount, paymentId: processing, requestKey: "events-2" });
  await post("/v1/refunds", { ...refund, paymentId: settled });
  await post("/v1/refunds", { ...refund, paymentId: "pay_failed", requestKey: "events-3" });
  await post(`/sandbox/payments/${processing}/settle`, {});
  await post(`/sandbox/payments/${failing}/fail`, {});
  await post(`/sandbox/payments/${covered}/cover`, {});
  for (const type of NAMES.slice(6)) await post("/sandbox/events", { type, resourceId: "res_1" });
  if (isLater) return [...(await receiver.first(LATER_DELIVERIES))];
  const deliveries = await receiver.first(NAMES.length);
  return NAMES.map((name) => {
    const delivery = deliveries.find(({ event }) => event.type === name);
    if (!delivery) throw new Error(`no ${name} arrived`);
    return delivery;
  });
}

/** In tomorrow's API a new event follows each of the nine, and a new status those of refunds and payments. */
const LATER_DELIVERIES = NAMES.length + NAMES.length + 6;

/** What tomorrow's API has delivered. */
export function toLaterCases(delivered: readonly Received[]): EventCase[] {
  return delivered.map(({ body, event }) => ({ check: "j", body, expected: describe(event) }));
}

/** The delivered events, and what a later version of the contract may send: see `docs/guides/versioning.md`. */
export function toEventCases(delivered: readonly Received[]): EventCase[] {
  const later = (name: string, change: (event: Event) => object): EventCase => {
    const event = delivered.find((one) => one.event.type === name)?.event;
    if (!event) throw new Error(`no ${name} was delivered`);
    const changed = { ...event, ...change(event) };
    return { check: "h", body: JSON.stringify(changed), expected: describe(changed) };
  };
  return [
    ...delivered.map(({ body, event }) => ({ check: "g" as const, body, expected: describe(event) })),
    later("refund.terminal_failed", ({ data }) => ({
      data: {
        ...data,
        errorDetails: { errorCode: "ACCOUNT_CLOSED", errorMessage: "The account is closed." },
      },
    })),
    later("refund.authorized", ({ data }) => ({ data: { ...data, paymentStatus: "PAID_OUT" } })),
    later("payment.settled", ({ data }) => ({ data: { ...data, status: "DISPUTED" } })),
    later("account.linked", ({ data }) => ({ data: { ...data, bank: { names: ["First"] } }, region: "US" })),
    later("account.linked", () => ({ type: "account.suspended" })),
  ];
}

function describe({ type, sequence, timestamp, data }: Event): string {
  if (!NAMES.includes(type)) return "unknown";
  const values = FIELDS.map((pointer) => valueAt(data, pointer)).filter((value) => value !== undefined);
  return [type, sequence, timestamp, ...values].map(String).join(" ");
}

/** Languages print a number with trailing zeros or an exponent, and a time as milliseconds since 1970; only the value counts. */
export function isSame(expected: string, printed = ""): boolean {
  const [wanted, found] = [expected.split(" "), printed.split(" ")];
  return wanted.length === found.length && wanted.every((word, at) => isSameWord(word, found[at]));
}

function isSameWord(wanted: string, found = ""): boolean {
  if (found === wanted) return true;
  // An empty text would be the number 0.
  return found !== "" && [Number(wanted), Date.parse(wanted)].some((value) => value === Number(found));
}
