import { createHmac, randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Contract } from "../../../openapi/document/contract.ts";
import { type SendResult, send } from "../../../server/webhooks/send.ts";
import { signDelivery } from "../../../server/webhooks/sign-delivery.ts";
import { CheckFailure, createRedactor, type Exchange, NotRun, type Sent } from "../../reporting/exchange.ts";
import { CannotRun } from "../../reporting/options.ts";
import { printed } from "../hooks.ts";
import type { ReceiverOptions } from "../options.ts";
import { type Event, exampleEvent } from "./example-events.ts";

/** A delivery to send; what is left out is as the service would have it. */
export type Delivery = {
  /** The contract's example of an authorized refund, if no other. */
  readonly event?: Event;
  /** The bytes of the body, if they are not those that the service would write. */
  readonly body?: string;
  readonly webhookId?: string;
  /** When it claims to be sent, if not now. */
  readonly at?: Date;
  /** The secrets of its signatures; `""` signs with no key at all. */
  readonly secrets?: readonly string[];
  /** Changes the headers after the body was signed; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Changes the body after it was signed. */
  readonly tamper?: (body: string) => string;
};

/** The tools of a check of the receiver. */
export type ReceiverKit = ReturnType<typeof createReceiverKit>;

/** Local receivers are what the exam is for. */
const BACK_MS = 30_000;
const BACK_POLL_MS = 100;

const POLICY = { allowLocal: true, allowPrivate: true };

export function createReceiverKit(options: ReceiverOptions, contract: Contract) {
  const { url, secret, timeoutMs } = options;
  const redactor = createRedactor();
  redactor.add("secret", secret);
  printed.length = 0;
  const closing = new AbortController();
  let redirected = false;
  /** Whether nothing listened at the last attempt, as while a supervisor starts the receiver again. */
  let isAway = false;
  let slowestMs = 0;

  const attempt = (request: { headers: Sent["headers"]; body: string }) =>
    send(
      { url, ...request },
      {
        policy: POLICY,
        resolve: (hostname) => lookup(hostname, { all: true }),
        timeoutMs,
        signal: closing.signal,
      },
    );

  /** Sends a delivery once. Throws a `CheckFailure` when no response comes in time. */
  async function sendOnce(delivery: Delivery): Promise<Exchange> {
    if (redirected) throw new NotRun("the receiver redirects; see response.redirect");
    const event = delivery.event ?? exampleEvent(contract, "refund.authorized");
    const request = toRequest(event, delivery, secret);
    if (isAway) await untilBack();
    const startedAt = performance.now();
    const result = await attempt(request);
    const took = performance.now() - startedAt;
    if (result.status !== null) slowestMs = Math.max(slowestMs, took);
    isAway = result.status === null && !result.timedOut;
    const { pathname, search } = new URL(url);
    const sent: Sent = {
      operation: undefined,
      method: "POST",
      path: pathname + search,
      headers: request.headers,
      text: redactor.apply(request.body),
    };
    if (result.status === null) {
      const { error, timedOut } = result;
      throw new CheckFailure(`a response within ${timeoutMs / 1000} s`, {
        sent,
        received: error ?? "",
        timedOut,
      });
    }
    if (result.status >= 300 && result.status < 400) redirected = true;
    return { sent, received: toReceived(result, took) };
  }

  /** Throws `CannotRun` when nothing listens there: every check would fail, and no report would say why. */
  async function requireReceiver(): Promise<void> {
    const { status, error, timedOut } = await attempt({
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    if (status !== null || timedOut) return;
    throw new CannotRun(`${url} can't be reached: ${error}. Start your receiver, or give another --url.`);
  }

  /** Waits until something listens again. */
  async function untilBack(): Promise<void> {
    for (const end = performance.now() + BACK_MS; performance.now() < end; await pause(BACK_POLL_MS)) {
      const { status, timedOut } = await attempt({
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      if (status !== null || timedOut) return;
    }
  }

  /** Throws `CannotRun` when every event is refused: every check would fail, for one cause. */
  async function requireTaken(): Promise<void> {
    const statusOf = async (type: string, delivery: Partial<Delivery> = {}) => {
      const request = toRequest(exampleEvent(contract, type), delivery, secret);
      return (await attempt(request)).status;
    };
    const isRefusal = (status: number | null) => status !== null && status >= 400;
    const status = await statusOf("refund.authorized");
    if (!isRefusal(status) || !isRefusal(await statusOf("payment.settled"))) return;
    for (const [cause, delivery] of causesOf(exampleEvent(contract, "refund.authorized"), secret))
      if (!isRefusal(await statusOf("refund.authorized", delivery)))
        throw new CannotRun(`The receiver responds ${status} to every event. ${cause}`);
    throw new CannotRun(
      `The receiver responds ${status} to every event. Is ${new URL(url).pathname} its path, and --secret its secret?`,
    );
  }

  return {
    options,
    contract,
    /** Sends once more what was accepted before a restart, and fails if that changes something. */
    beforeRestart: undefined as (() => Promise<void>) | undefined,
    async requireReceiver() {
      await requireReceiver();
      await requireTaken();
    },
    /** What passed only just. */
    warnings: () =>
      slowestMs > timeoutMs / 2
        ? [`the slowest response took ${(slowestMs / 1000).toFixed(1)} of ${timeoutMs / 1000} s`]
        : [],
    /** The headers and the body of an ordinary delivery. */
    sign: (delivery: Delivery) => toRequest(exampleEvent(contract, "refund.authorized"), delivery, secret),
    send: sendOnce,
    /** Ends requests that are still under way. */
    close: () => closing.abort(),
  };
}

/** Likely mistakes of a receiver that refuses everything, each with a delivery that it then takes. */
function causesOf(event: Event, secret: string): [cause: string, delivery: Partial<Delivery>][] {
  const at = new Date();
  const signed = (key: string | Buffer, id: string, timestamp: string) => {
    const text = `${id}.${timestamp}.${JSON.stringify(event)}`;
    const signature = `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
    return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  };
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const [id, seconds] = [newWebhookId(), String(Math.floor(at.getTime() / 1000))];
  const spaced = JSON.stringify(event, null, 1)
    .replaceAll(/\n */g, " ")
    .replaceAll(/([{[]) | (?=[}\]])/g, "$1");
  const body = JSON.stringify(event);
  return [
    [
      "It uses the secret as text: decode the base64 after whsec_.",
      { body, headers: signed(secret, id, seconds) },
    ],
    [
      "It uses the text after whsec_: decode it as base64.",
      { body, headers: signed(secret.replace(/^whsec_/, ""), id, seconds) },
    ],
    [
      "It takes webhook-timestamp for milliseconds: it has seconds.",
      { body, headers: signed(key, id, String(at.getTime())) },
    ],
    ["It verifies JSON that it has written again: verify the raw body.", { body: spaced }],
  ];
}

function toRequest(
  event: Event,
  { webhookId = newWebhookId(), at = new Date(), ...delivery }: Delivery,
  secret: string,
) {
  const { body = JSON.stringify(event), secrets = [secret], tamper = String } = delivery;
  const signed = secrets.includes("")
    ? signWithoutKey({ webhookId, at, body })
    : signDelivery(secrets, { webhookId, at, body });
  const entries = Object.entries<string | null>({ ...signed, ...delivery.headers });
  const headers = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  return { headers, body: tamper(body) };
}

/** The service can't do this: its library refuses an empty key. */
function signWithoutKey(signed: { webhookId: string; at: Date; body: string }) {
  const headers = signDelivery(["a key"], signed);
  const text = `${signed.webhookId}.${headers["webhook-timestamp"]}.${signed.body}`;
  return { ...headers, "webhook-signature": `v1,${createHmac("sha256", "").update(text).digest("base64")}` };
}

export function newWebhookId(): string {
  return `msg_${randomUUID()}`;
}

function toReceived({ status, bodyStart }: SendResult, milliseconds: number): Exchange["received"] {
  return {
    status: status ?? 0,
    headers: new Headers(),
    text: bodyStart ?? "",
    body: undefined,
    milliseconds,
  };
}
