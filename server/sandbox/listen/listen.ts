import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { styleText } from "node:util";
import {
  createClient,
  expressWebhookHandler,
  type SubscriptionRequest,
  UnexpectedResponseError,
  type WebhookEvent,
} from "../../../client/src/index.ts";

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
};

export type Listening = {
  /** The address to which the sandbox delivers. */
  receiverUrl: string;
  subscriptionKey: string;
  /** Ends the subscription and closes the port. Rejects with a `ListenError` when the subscription can't be ended. */
  stop(): Promise<void>;
};

/** An error whose message is shown at the terminal. */
export class ListenError extends Error {}

const STOP_TIMEOUT_MS = 5_000;

/** Subscribes its own receiver to a sandbox, and prints each verified event. */
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
    const subscriptionKey = await subscribe(receiver.url, options);
    const stop = () => unsubscribe(subscriptionKey, options).finally(receiver.close);
    return { receiverUrl: receiver.url, subscriptionKey, stop };
  } catch (error) {
    receiver.close();
    throw error;
  }
}

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

async function subscribe(
  receiverUrl: string,
  { url, token, events, secretKey }: ListenOptions,
): Promise<string> {
  const client = createClient({ baseUrl: url, accessToken: token });
  const subscriptionDetails = toDetails(events);
  const result = await client
    .subscribeToWebhooks({ url: receiverUrl, secretKey, subscriptionDetails })
    .catch((error: unknown) => {
      throw new ListenError(describeNoResponse(error, url), { cause: error });
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
  if (error instanceof UnexpectedResponseError) {
    return `The server at ${url} is not a sandbox: ${error.message}`;
  }
  return `No sandbox responds at ${url}. Start one with \`npm start\`, or name another with --url.`;
}

async function unsubscribe(subscriptionKey: string, { url, token }: ListenOptions): Promise<void> {
  const address = `${url.replace(/\/$/, "")}/sandbox/subscriptions/${encodeURIComponent(subscriptionKey)}`;
  const response = await fetch(address, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
    signal: AbortSignal.timeout(STOP_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new ListenError(`The subscription ${subscriptionKey} was not ended: no response from ${url}.`, {
      cause: error,
    });
  });
  await response.body?.cancel();
  // 404: a reset of the sandbox has already ended it.
  if (response.ok || response.status === 404) return;
  throw new ListenError(
    `The subscription ${subscriptionKey} was not ended: ${url} responded with ${response.status}.`,
  );
}

type Stream = NodeJS.WritableStream;

const COLORS = {
  "refund.pending": "yellow",
  "refund.authorized": "green",
  "refund.terminal_failed": "red",
  "payment.settled": "green",
  "payment.failed": "red",
  "payment.covered": "red",
  "account.linked": "cyan",
  "account.unlinked": "cyan",
  "customer.created": "cyan",
  unknown: "magenta",
} as const satisfies Record<WebhookEvent["type"], Parameters<typeof styleText>[0]>;

const TYPE_WIDTH = "refund.terminal_failed".length;
const ID_WIDTH = "rfd_00000000-0000-0000-0000-000000000000".length;

/** An event as one line for people: time, type, id, details, sequence. Coloured when `stream` is a terminal. */
export function formatEvent(event: WebhookEvent, stream: Stream): string {
  const paint = (color: Parameters<typeof styleText>[0], text: string) => styleText(color, text, { stream });
  const { id, details } = describeData(event);
  const type = event.type === "unknown" ? event.name : event.type;
  const columns = [
    paint("dim", printable(event.timestamp.slice(0, 19).replace("T", " "))),
    paint(COLORS[event.type], printable(type).padEnd(TYPE_WIDTH)),
    printable(id).padEnd(ID_WIDTH),
    paint("dim", `#${event.sequence}`),
    printable(details),
  ];
  return columns.join("  ").trimEnd();
}

function describeData(event: WebhookEvent): { id: string; details: string } {
  switch (event.type) {
    case "refund.pending":
    case "refund.authorized":
      return {
        id: event.data.paymentId,
        details: join(event.data.paymentStatus, event.data.clientReferenceId),
      };
    case "refund.terminal_failed": {
      const { paymentId, paymentStatus, errorDetails, clientReferenceId } = event.data;
      return { id: paymentId, details: join(paymentStatus, errorDetails.errorCode, clientReferenceId) };
    }
    case "payment.settled":
    case "payment.failed":
    case "payment.covered": {
      const { paymentId, status, amount } = event.data;
      return { id: paymentId, details: join(status, amount.value.toFixed(2), amount.currency) };
    }
    case "account.linked":
    case "account.unlinked":
      return { id: event.data.accountId, details: "" };
    case "customer.created":
      return { id: event.data.customerId, details: "" };
    case "unknown":
      return { id: "", details: JSON.stringify(event.data) };
  }
}

function join(...words: readonly (string | null)[]): string {
  return words.filter((word) => word !== null).join(" ");
}

/** Names come from callers: a control character among them could rewrite what the terminal shows. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "�");
}
