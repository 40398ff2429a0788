import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import {
  createClient,
  expressWebhookHandler,
  type SubscriptionRequest,
  UnexpectedResponseError,
  type WebhookEvent,
} from "../../../client/src/index.ts";

/** Subscribes its own receiver to a sandbox, again after each reset, and prints each verified event. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { url, secretKey, out } = options;
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    throw new ListenError(`${url} is not an address, such as http://127.0.0.1:3000.`);
  const receive = expressWebhookHandler({
    secretKey,
    onEvent: (event) => void out.write(`${formatEvent(event, out)}\n`),
    onError: (error) =>
      void out.write(`Refused a delivery. ${error instanceof Error ? error.message : error}\n`),
  });
  const receiver = await startReceiver(receive);
  try {
    const subscription = { key: await subscribe(receiver.url, options) };
    const stopping = new AbortController();
    const watched = keepSubscribed(subscription, receiver.url, { ...options, signal: stopping.signal });
    const stop = async () => {
      stopping.abort();
      await watched;
      return unsubscribe(subscription.key, options).finally(receiver.close);
    };
    return { receiverUrl: receiver.url, subscriptionKey: subscription.key, stop };
  } catch (error) {
    receiver.close();
    throw error;
  }
}

export type ListenOptions = {
  /** The address of the sandbox. */
  url: string;
  token: string;
  /** Names of events, or of categories; empty for every event. */
  events: readonly string[];
  /** Signs the deliveries. */
  secretKey: string;
  /** The stream on which each event is printed. */
  out: NodeJS.WritableStream;
  /** Aborts the call that subscribes. */
  signal?: AbortSignal;
};

export type Listening = {
  /** The address to which the sandbox delivers. */
  receiverUrl: string;
  subscriptionKey: string;
  /**
   * Ends the subscription and closes the port. Resolves with the result for the subscription, and rejects with a `ListenError` when
   * it can't be ended.
   */
  stop(): Promise<string>;
};

/** An error whose message is shown at the terminal. */
export class ListenError extends Error {}

const STOP_TIMEOUT_MS = 5_000;
/** How long to wait before a sandbox that does not respond is called again. */
const RETRY_MS = 1_000;

async function startReceiver(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server: Server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a server that listens on a port has no other kind of address
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, close };
}

async function subscribe(receiverUrl: string, { url, token, events, secretKey, signal }: ListenOptions) {
  const client = createClient({ baseUrl: url, accessToken: token });
  const subscriptionDetails = toDetails(events);
  const result = await client
    .subscribeToWebhooks({ url: receiverUrl, secretKey, subscriptionDetails }, signal && { signal })
    .catch((error: unknown) => {
      const why = signal?.aborted ? `Stopped before ${url} responded.` : describeNoResponse(error, url);
      throw new ListenError(why, { cause: error });
    });
  if (result.status === 200) return result.body.subscriptionKey;
  const violations = result.status === 400 ? result.body.violations.map(({ message }) => message) : [];
  throw new ListenError([result.body.detail, ...violations].join("\n"));
}

/** The names are sent as typed; for an unknown one, the sandbox lists the valid names. */
function toDetails(events: readonly string[]): SubscriptionRequest["subscriptionDetails"] {
  if (events.length === 0) return { type: "ALL" };
  const type = events.every((name) => /^[A-Z]+$/.test(name)) ? "CATEGORY" : "EVENT";
  return { type, details: events } as SubscriptionRequest["subscriptionDetails"];
}

function describeNoResponse(error: unknown, url: string): string {
  if (error instanceof UnexpectedResponseError)
    return `The server at ${url} is not a sandbox: ${error.message}`;
  return `No sandbox responds at ${url}. Start one with \`npm start\`, or name another with --url.`;
}

/** Subscribes again when a reset, or a restart without the data, has removed the subscription, until the signal. */
async function keepSubscribed(
  subscription: { key: string },
  receiverUrl: string,
  options: ListenOptions & { signal: AbortSignal },
): Promise<void> {
  const { out, signal } = options;
  let printed: string | undefined;
  while (!signal.aborted) {
    try {
      const changes = await call("GET", "/sandbox/changes", options);
      for await (const chunk of changes.body as unknown as AsyncIterable<Uint8Array>) {
        // The first event names no topic. The subscription may have ended before the stream began, so it is checked then, too.
        if (!/"(topics":\[\]|subscriptions")/.test(Buffer.from(chunk).toString())) continue;
        const { status, body } = await call("GET", toPath(subscription.key), options);
        await body?.cancel();
        if (status !== 404) continue;
        subscription.key = await subscribe(receiverUrl, options);
        out.write(`The sandbox was reset; subscribed again as ${subscription.key}.\n`);
      }
    } catch (error) {
      // The sandbox doesn't respond, or refuses the subscription, perhaps for a moment only.
      const problem = error instanceof ListenError && !signal.aborted ? error.message : printed;
      if (problem !== printed) out.write(`${problem}\n`);
      printed = problem;
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}

async function unsubscribe(subscriptionKey: string, options: ListenOptions): Promise<string> {
  const { url } = options;
  const signal = AbortSignal.timeout(STOP_TIMEOUT_MS);
  const response = await call("DELETE", toPath(subscriptionKey), { ...options, signal }).catch(
    (error: unknown) => {
      throw new ListenError(`The subscription ${subscriptionKey} was not ended: no response from ${url}.`, {
        cause: error,
      });
    },
  );
  await response.body?.cancel();
  if (response.ok) return `Ended the subscription ${subscriptionKey}.`;
  if (response.status === 404) return `The subscription ${subscriptionKey} had already ended.`;
  throw new ListenError(
    `The subscription ${subscriptionKey} was not ended: ${url} responded with ${response.status}.`,
  );
}

const toPath = (subscriptionKey: string) => `/sandbox/subscriptions/${encodeURIComponent(subscriptionKey)}`;

function call(
  method: string,
  path: string,
  { url, token, signal }: Pick<ListenOptions, "url" | "token" | "signal">,
): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream, application/json" };
  return fetch(url.replace(/\/$/, "") + path, { method, headers, signal: signal ?? null });
}

type Stream = NodeJS.WritableStream;

type Color = Parameters<typeof styleText>[0];

/** By the end of an event's name, which is a status. */
const COLORS: readonly [status: RegExp, color: Color][] = [
  [/\.pending$/, "yellow"],
  [/\.(authorized|settled)$/, "green"],
  [/\.(terminal_failed|failed|covered)$/, "red"],
  [/^unknown$/, "magenta"],
];

const TYPE_WIDTH = "refund.terminal_failed".length;
const ID_WIDTH = "rfd_00000000-0000-0000-0000-000000000000".length;

/** An event as one line for people: time, type, id, details, sequence. Coloured when `stream` is a terminal. */
export function formatEvent(event: WebhookEvent, stream: Stream): string {
  const paint = (color: Color, text: string) => styleText(color, text, { stream });
  const color = COLORS.find(([status]) => status.test(event.type))?.[1] ?? "cyan";
  const { id, details } = describeData(event);
  const type = event.type === "unknown" ? event.name : event.type;
  const columns = [
    paint("dim", printable(event.timestamp.slice(0, 19).replace("T", " "))),
    paint(color, printable(type).padEnd(TYPE_WIDTH)),
    printable(id).padEnd(ID_WIDTH),
    paint("dim", `#${event.sequence}`),
    printable(details),
  ];
  return columns.join("  ").trimEnd();
}

function describeData(event: WebhookEvent): { id: string; details: string } {
  if (event.type === "unknown") return { id: "", details: JSON.stringify(event.data) };
  const { data } = event;
  if ("paymentStatus" in data) {
    const code = "errorDetails" in data ? data.errorDetails.errorCode : null;
    return { id: data.paymentId, details: join(data.paymentStatus, code, data.clientReferenceId) };
  }
  if ("paymentId" in data) {
    const { paymentId, status, amount } = data;
    return { id: paymentId, details: join(status, amount.value.toFixed(2), amount.currency) };
  }
  return { id: "accountId" in data ? data.accountId : data.customerId, details: "" };
}

function join(...words: readonly (string | null)[]): string {
  return words.filter((word) => word !== null).join(" ");
}

/** Names come from callers: a control character among them could rewrite what the terminal shows, or turn its direction. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, "�");
}
