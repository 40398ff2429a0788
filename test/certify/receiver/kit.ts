import { createHmac, randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Contract } from "../../../openapi/document/read-contract.ts";
import { send } from "../../../server/webhooks/send-request.ts";
import { signDelivery } from "../../../server/webhooks/sign-delivery.ts";
import { CheckFailure, createRedactor, type Exchange, type Sent } from "../../reporting/exchange.ts";
import { CannotRun } from "../../reporting/option-readers.ts";
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
  /** Spells the names of the headers. */
  readonly spell?: (name: string) => string;
  /** Changes the body after it was signed. */
  readonly tamper?: (body: string) => string;
};

/** The tools of a check of the receiver. */
export type ReceiverKit = ReturnType<typeof createReceiverKit>;

const [BACK_MS, BACK_POLL_MS] = [30_000, 100];
/** The event to send where any will do. */
const PROBE = "refund.authorized";
/** Local receivers are what the exam is for. */
const POLICY = { allowLocal: true, allowPrivate: true };

export function createReceiverKit(options: ReceiverOptions, contract: Contract) {
  const { url, secret, timeoutMs } = options;
  const redactor = createRedactor();
  redactor.add("secret", secret);
  printed.length = 0;
  const closing = new AbortController();
  /** Whether nothing listened at the last attempt, for example because the receiver is being restarted. */
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
    const event = delivery.event ?? exampleEvent(contract, PROBE);
    const request = toRequest(event, delivery, secret);
    for (const end = performance.now() + BACK_MS; isAway && performance.now() < end && (await whyAway()); )
      await pause(BACK_POLL_MS);
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
    const { status, bodyStart } = result;
    const received = { status, headers: new Headers(), text: bodyStart ?? "", body: undefined };
    return { sent, received: { ...received, milliseconds: took } };
  }

  /** Why nothing listens there, if so. */
  async function whyAway(): Promise<string | undefined> {
    const { status, error, timedOut } = await attempt(toRequest(exampleEvent(contract, PROBE), {}, secret));
    return status === null && !timedOut ? `${error}` : undefined;
  }

  /** Throws `CannotRun` when nothing listens there, or every event is refused: every check would fail for that one cause. */
  async function requireReceiver(): Promise<void> {
    const why = await whyAway();
    if (why)
      throw new CannotRun(`${url} can't be reached: ${why}. Start your receiver, or give another --url.`);
    const refusal = async (type: string, delivery: Delivery = {}) => {
      const { status } = await attempt(toRequest(exampleEvent(contract, type), delivery, secret));
      return status !== null && status >= 300 ? status : undefined;
    };
    const status = await refusal(PROBE);
    if (!status || !(await refusal("payment.settled"))) return;
    const said = `The receiver responds ${status} to every event.`;
    if (status < 400) throw new CannotRun(`${said} The service follows no redirect: give where it leads to.`);
    for (const [cause, delivery] of causesOf(exampleEvent(contract, PROBE), secret))
      if (!(await refusal(PROBE, delivery))) throw new CannotRun(`${said} ${cause}`);
    throw new CannotRun(`${said} Is ${new URL(url).pathname} its path, and --secret its secret?`);
  }

  return {
    options,
    contract,
    /** Sends once more what was accepted before a restart, and fails if that changes something. */
    beforeRestart: undefined as (() => Promise<void>) | undefined,
    requireReceiver,
    /** Checks that passed by a narrow margin. */
    warnings: () =>
      slowestMs > timeoutMs / 2
        ? [`the slowest response took ${(slowestMs / 1000).toFixed(1)} of ${timeoutMs / 1000} s`]
        : [],
    /** The headers and the body of an ordinary delivery. */
    sign: (delivery: Delivery) => toRequest(exampleEvent(contract, PROBE), delivery, secret),
    send: sendOnce,
    /** Ends requests that are still under way. */
    close: () => closing.abort(),
  };
}

/** Likely mistakes of a receiver that refuses everything, each with a delivery that it then takes. */
function causesOf(event: Event, secret: string): [cause: string, delivery: Delivery][] {
  const at = new Date();
  const [webhookId, body] = [newWebhookId(), JSON.stringify(event)];
  const text = secret.replace(/^whsec_/, "");
  const seconds = String(Math.floor(at.getTime() / 1000));
  const signed = (key: string | Buffer, timestamp = seconds): Delivery => {
    const headers = { "webhook-timestamp": timestamp, ...signBy(key, `${webhookId}.${timestamp}.${body}`) };
    return { body, webhookId, headers };
  };
  const spaced = JSON.stringify(event, null, 1)
    .replaceAll(/\n */g, " ")
    .replaceAll(/([{[]) | (?=[}\]])/g, "$1");
  const late = signed(Buffer.from(text, "base64"), String(at.getTime()));
  return [
    ["It uses the secret as text: decode the base64 after whsec_.", signed(secret)],
    ["It uses the text after whsec_: decode it as base64.", signed(text)],
    ["It reads webhook-timestamp as milliseconds: it is in seconds.", late],
    ["It verifies JSON that it has written again: verify the raw body.", { body: spaced }],
  ];
}

/** Signs with any key, also those that the service's library refuses. */
function signBy(key: string | Buffer, text: string) {
  return { "webhook-signature": `v1,${createHmac("sha256", key).update(text).digest("base64")}` };
}

function toRequest(
  event: Event,
  { webhookId = newWebhookId(), at = new Date(), ...delivery }: Delivery,
  secret: string,
) {
  const { body = JSON.stringify(event), secrets = [secret], spell = String, tamper = String } = delivery;
  const isKeyless = secrets.includes("");
  const signed = signDelivery(isKeyless ? ["a key"] : secrets, { webhookId, at, body });
  const keyless = isKeyless && signBy("", `${webhookId}.${signed["webhook-timestamp"]}.${body}`);
  const entries = Object.entries<string | null>({ ...signed, ...keyless, ...delivery.headers });
  const sent = entries.flatMap(([name, value]) => (value === null ? [] : [[spell(name), value]]));
  const headers: Sent["headers"] = Object.fromEntries(sent);
  return { headers, body: tamper(body) };
}

export function newWebhookId(): string {
  return `msg_${randomUUID()}`;
}

/** Fails unless the receiver has taken a delivery; `because` says why it has to. */
export function expectTaken({ sent, received }: Exchange, because: string): void {
  if (received.status >= 200 && received.status < 300) return;
  throw new CheckFailure(`a 2xx, because ${because}`, { sent, received });
}

/** Fails unless the receiver has refused a delivery; `because` says why it has to. */
export function expectRefused({ sent, received }: Exchange, because: string): void {
  if (received.status >= 400 && received.status < 500) return;
  throw new CheckFailure(`a 4xx, because ${because}`, { sent, received });
}
