import { createHmac, randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import type { Contract } from "../../../openapi/document/contract.ts";
import { type SendResult, send } from "../../../server/webhooks/send.ts";
import { signDelivery } from "../../../server/webhooks/sign-delivery.ts";
import { CheckFailure, createRedactor, type Exchange, NotRun, type Sent } from "../../reporting/exchange.ts";
import { CannotRun } from "../../reporting/options.ts";
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
const POLICY = { allowLocal: true, allowPrivate: true };

export function createReceiverKit(options: ReceiverOptions, contract: Contract) {
  const { url, secret, timeoutMs } = options;
  const redactor = createRedactor();
  redactor.add("secret", secret);
  const closing = new AbortController();
  let redirected = false;

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
    const startedAt = performance.now();
    const result = await attempt(request);
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
    return { sent, received: toReceived(result, performance.now() - startedAt) };
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

  return {
    options,
    contract,
    /** Whether the system has ever said something about a refund of the exam. */
    knowsRefunds: false,
    requireReceiver,
    send: sendOnce,
    /** Ends requests that are still under way. */
    close: () => closing.abort(),
  };
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
