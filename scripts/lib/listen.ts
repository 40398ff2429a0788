import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createClient,
  expressWebhookHandler,
  type SubscriptionRequest,
  UnexpectedResponseError,
} from "../../client/src/index.ts";
import { formatEvent } from "./event-line.ts";

export interface ListenOptions {
  /** Where the sandbox is. */
  url: string;
  token: string;
  /** Names of events, or of categories; empty for every event. */
  events: readonly string[];
  /** Signs the deliveries. */
  secretKey: string;
  /** Where each event is printed. */
  out: NodeJS.WritableStream;
}

export interface Listening {
  /** Where the sandbox delivers to. */
  receiverUrl: string;
  subscriptionKey: string;
  /** Ends the subscription and lets go of the port. Rejects with a `ListenError` when the subscription stays. */
  stop(): Promise<void>;
}

/** What went wrong, for whoever sits at the terminal. */
export class ListenError extends Error {}

const STOP_TIMEOUT_MS = 5_000;

/** Subscribes a receiver of its own to a sandbox, and prints each event that it verified. */
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
      throw new ListenError(describeNoAnswer(error, url), { cause: error });
    });
  if (result.status === 200) return result.body.subscriptionKey;
  const violations = result.status === 400 ? result.body.violations.map(({ message }) => message) : [];
  throw new ListenError([result.body.detail, ...violations].join("\n"));
}

/** The names are as they were typed; the sandbox knows which there are, and lists them. */
function toDetails(events: readonly string[]): SubscriptionRequest["subscriptionDetails"] {
  if (events.length === 0) return { type: "ALL" };
  const type = events.every((name) => /^[A-Z]+$/.test(name)) ? "CATEGORY" : "EVENT";
  return { type, details: events } as SubscriptionRequest["subscriptionDetails"];
}

function describeNoAnswer(error: unknown, url: string): string {
  if (error instanceof UnexpectedResponseError) {
    return `What answers at ${url} is not a sandbox: ${error.message}`;
  }
  return `No sandbox answers at ${url}. Start one with \`npm start\`, or name another with --url.`;
}

async function unsubscribe(subscriptionKey: string, { url, token }: ListenOptions): Promise<void> {
  const address = `${url.replace(/\/$/, "")}/sandbox/subscriptions/${encodeURIComponent(subscriptionKey)}`;
  const response = await fetch(address, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
    signal: AbortSignal.timeout(STOP_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new ListenError(`The subscription ${subscriptionKey} stays: no answer from ${url}.`, {
      cause: error,
    });
  });
  await response.body?.cancel();
  // 404: a reset of the sandbox ended it before.
  if (response.ok || response.status === 404) return;
  throw new ListenError(`The subscription ${subscriptionKey} stays: ${url} answered ${response.status}.`);
}
