/** Subscribes, issues refunds and waits for their webhooks, once for all checks of deliveries. */
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { isNode, type Node } from "../../../openapi/document/document-node.ts";
import { parseBody } from "../../reporting/exchange.ts";
import { assert, bodyOf, expectProblem, expectRefund } from "../assertions.ts";
import type { Kit } from "../kit.ts";
import { issue, refundOf, subscribe, subscriptionOf } from "../valid-requests.ts";
import { type Delivery, type Endpoint, type Receiver, receiverOf } from "../webhook-receiver.ts";
import { refuseFull } from "./subscriptions.ts";

/** Three subscriptions, the refunds whose events they receive, and the attempts that were seen. */
export type DeliveryRun = {
  readonly receiver: Receiver;
  /** Subscribed to every event. */
  readonly all: Endpoint;
  /** Subscribed to the category of payments and another one. */
  readonly category: Endpoint;
  /** Subscribed to failed refunds. */
  readonly single: Endpoint;
  readonly secrets: ReadonlyMap<Endpoint, string>;
  /** What the first event of each refund must contain: its response, and three fields of its request. */
  readonly refunds: readonly Node[];
  /** The `traceparent` of the call that issued each refund. */
  readonly traces: ReadonlyMap<unknown, string>;
};

/** Creates the subscriptions and the refunds once in a run, and waits until everything has arrived or the time limit is reached. */
export function deliveryRunOf(kit: Kit): Promise<DeliveryRun> {
  return kit.share("deliveries", async () => {
    const receiver = await receiverOf(kit);
    if (!receiver) throw new Error("deliveries need a receiver");
    // Ends the subscriptions that delivery.gone has not ended, such as when it was not run.
    kit.onClose(async () => {
      await endEndpoints(kit, receiver.accepting()).catch(() => {}); // the report counts what stays
    });
    const secrets = new Map<Endpoint, string>();
    const open = async (subscriptionDetails: unknown, secretKey: string) => {
      const endpoint = await openEndpoint(kit, receiver, { subscriptionDetails, secretKey });
      secrets.set(endpoint, secretKey);
      return endpoint;
    };
    const all = await open({ type: "ALL" }, kit.newSecret());
    const category = await open({ type: "CATEGORY", details: ["PAYMENT", "ACCOUNT"] }, kit.newSecret());
    const single = await open(
      { type: "EVENT", details: ["refund.terminal_failed"] },
      `whsec_${kit.newSecret()}`,
    );
    const traces = new Map<unknown, string>();
    const refunds = await issueEach(kit, traces);

    const { timeoutMs } = kit.options;
    const has = (deliveries: readonly Delivery[], wanted: readonly Node[]) =>
      wanted.every(({ paymentId }) => deliveries.some((delivery) => refundIdOf(delivery) === paymentId));
    const failed = refunds.filter(({ paymentStatus }) => paymentStatus === "TERMINAL_FAILED");
    await Promise.all([
      all.until((deliveries) => has(deliveries, refunds), timeoutMs),
      category.until((deliveries) => has(deliveries, refunds), timeoutMs),
      single.until((deliveries) => has(deliveries, failed), timeoutMs),
    ]);
    return { receiver, all, category, single, secrets, refunds, traces };
  });
}

async function openEndpoint(
  kit: Kit,
  receiver: Receiver,
  fields: { subscriptionDetails: unknown; secretKey?: string },
): Promise<Endpoint> {
  const endpoint = receiver.endpoint({ accepts: true });
  const exchange = await subscribe(kit, subscriptionOf(kit, { ...fields, url: endpoint.url }));
  const made = exchange.received.status === 200 && typeof bodyOf(exchange).subscriptionKey === "string";
  endpoint.accepts = made;
  refuseFull(exchange.received.status, () => expectProblem(exchange, "SUBSCRIPTION_LIMIT"));
  assert(made, "200 with a subscriptionKey", exchange);
  return endpoint;
}

/** The refund of the failed debit comes last: when its event has arrived, the others have had enough time. */
async function issueEach(kit: Kit, traces: Map<unknown, string>): Promise<Node[]> {
  const { recent, processing, settled, failed } = kit.options.payments;
  const refunds: Node[] = [];
  for (const paymentId of [recent ?? processing, settled, failed]) {
    if (paymentId === undefined) continue;
    const refund = refundOf(kit, { paymentId, clientReferenceId: "conform ✓" });
    const { paymentId: originalPaymentId, amount, requestKey } = refund;
    const traceparent = `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
    const issued = expectRefund(await issue(kit, refund, { headers: { traceparent } }));
    refunds.push({ ...issued, originalPaymentId, amount, requestKey });
    traces.set(issued.paymentId, traceparent);
  }
  return refunds;
}

/** A service may need a moment to act on a 410: so many later events are tried, with this pause between them. */
const MAX_TRIES = 5;
const PAUSE_MS = 200;

/**
 * Responds with 410 to every subscription of the run. Resolves with one that still gets deliveries afterwards. A new subscription,
 * which is ended as well, shows when later events have gone out.
 */
export async function endSubscriptions(kit: Kit, run: DeliveryRun): Promise<Endpoint | undefined> {
  const endpoints = [run.all, run.category, run.single];
  assert(await endEndpoints(kit, endpoints), "an event for each subscription");

  const later = await openEndpoint(kit, run.receiver, { subscriptionDetails: { type: "ALL" } });
  const stillSent = await findStillSent(kit, endpoints, later);
  await endEndpoints(kit, [later]);
  return stillSent;
}

/** Makes an event, and responds to it with 410 at each endpoint. Resolves with whether all have got it in time. */
async function endEndpoints(kit: Kit, endpoints: readonly Endpoint[]): Promise<boolean> {
  if (endpoints.length === 0) return true;
  for (const endpoint of endpoints) endpoint.accepts = false;
  await issueFailed(kit);
  const isEnded = (deliveries: readonly Delivery[]) => deliveries.some(({ refused }) => refused);
  const ended = await Promise.all(endpoints.map((one) => one.until(isEnded, kit.options.timeoutMs)));
  return !ended.includes(false);
}

async function findStillSent(kit: Kit, endpoints: readonly Endpoint[], later: Endpoint) {
  let stillSent: Endpoint | undefined;
  for (let tried = 0; tried < MAX_TRIES; tried += 1) {
    const refund = await issueFailed(kit);
    const arrived = ({ deliveries }: Endpoint) =>
      deliveries.some((delivery) => refundIdOf(delivery) === refund.paymentId);
    await later.until(() => arrived(later), kit.options.timeoutMs);
    stillSent = endpoints.find(arrived);
    if (!stillSent) return undefined;
    await pause(PAUSE_MS);
  }
  return stillSent;
}

async function issueFailed(kit: Kit): Promise<Node> {
  return expectRefund(await issue(kit, refundOf(kit, { paymentId: kit.options.payments.failed })));
}

/** The event of a delivery, or an empty object when the body is none. */
export function eventOf({ bytes }: Pick<Delivery, "bytes">): Node {
  const event = parseBody(bytes.toString("utf8"));
  return isNode(event) ? event : {};
}

/** Of an event of a refund. */
export function refundIdOf(delivery: Delivery): unknown {
  const { data } = eventOf(delivery);
  return isNode(data) ? data.paymentId : undefined;
}

/** Members that no event has unless the response of the refund had them. */
const NEVER_ADDED = ["errorDetails", "clientRefefenceId"];

/** Whether an event's data repeat the refund's request and response. New members are allowed (`x-open`). */
export function isEventOf(refund: Node, data: unknown): boolean {
  const names = [...Object.keys(refund), ...NEVER_ADDED];
  return isNode(data) && names.every((name) => isDeepStrictEqual(data[name], refund[name]));
}
