/** What every check gets: the options, calls to the service that are recorded, and what checks share. */
import { randomBytes } from "node:crypto";
import type { OperationId } from "../../client/src/index.ts";
import type { Contract } from "../../openapi/document/read-contract.ts";
import {
  createRedactor,
  type Exchange,
  parseBody,
  type Received,
  type Redactor,
  type Sent,
} from "../reporting/exchange.ts";
import type { ConformOptions } from "./options.ts";
import { createTransport, retryWhileLimited, type WireResponse } from "./transport.ts";

/** The tools of a check: the connection to the service, and shared state. */
export type Kit = ReturnType<typeof createKit>;

/** The parts of a call that differ from a valid one. */
export type CallSpec = {
  /** Decides the path, and which responses are documented. */
  readonly operation?: OperationId;
  readonly path?: string;
  readonly method?: string;
  /** A string or bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Null sends no `Authorization`. */
  readonly token?: string | null;
  /** In addition to the three that the interface requires; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Whether a 429 is returned like any other response. */
  readonly takeLimit?: boolean;
};

export function createKit(options: ConformOptions, contract: Contract) {
  const redactor = createRedactor();
  redactor.add("token", options.token);
  redactor.add("other token", options.otherToken);
  redactor.add("second token", options.secondToken);
  redactor.add("unscoped token", options.unscopedToken);
  const transport = createTransport(options.url, options.timeoutMs);
  const exchanges: Exchange[] = [];
  const shared = new Map<string, Promise<unknown>>();
  const closers: (() => Promise<void> | void)[] = [() => transport.close()];
  /** The prefix of every requestKey of the run. */
  const keyPrefix = `conform-${randomBytes(6).toString("hex")}-`;
  let keys = 0;

  const keep = (sent: Sent, response: WireResponse): Exchange => {
    const exchange = { sent, received: toReceived(response, redactor) };
    exchanges.push(exchange);
    return exchange;
  };

  /** Sends a call, waits out a rate limit, and keeps the exchange. Throws a `CheckFailure` when there is no response. */
  async function send(spec: CallSpec): Promise<Exchange> {
    const { sent, call } = toCall(spec, { contract, options, redactor });
    const sendOnce = async () => keep(sent, await transport.send(call, sent));
    if (spec.takeLimit) return sendOnce();
    const received = await retryWhileLimited(sent, async () => (await sendOnce()).received);
    return { sent, received };
  }

  return {
    options,
    contract,
    redactor,
    exchanges,
    send,
    keyPrefix,
    /** Creates a requestKey that no run has used. */
    newKey: () => `${keyPrefix}${++keys}`,
    /** Creates a secretKey, which no report shows. It is also base64. */
    newSecret: () => {
      const secret = randomBytes(24).toString("hex");
      redactor.add("secretKey", secret);
      return secret;
    },
    /** Creates something that several checks share, once. */
    share<Thing>(name: string, make: () => Promise<Thing>) {
      const made = (shared.get(name) ?? make()) as Promise<Thing>; // each name is used by one caller
      shared.set(name, made);
      return made;
    },
    onClose: (close: () => Promise<void> | void) => void closers.push(close),
    async [Symbol.asyncDispose]() {
      for (const close of closers.reverse()) await close();
    },
  };
}

type Parts = Pick<Kit, "contract" | "options" | "redactor">;

function toCall(spec: CallSpec, { contract, options, redactor }: Parts) {
  const { operation, method = "POST", token = options.token ?? null } = spec;
  const path = spec.path ?? (operation ? contract.operation(operation).path : "/");
  const body = toBytes(spec.body);
  const wanted = {
    Accept: "application/json",
    "Content-Type": body.length > 0 ? "application/json" : null,
    Authorization: token === null ? null : `Bearer ${token}`,
    ...spec.headers,
  };
  const headers = Object.fromEntries(
    Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  const shown = Object.entries(headers).map(([name, value]) => [name, redactor.apply(value)]);
  const text = redactor.apply(Buffer.from(body).toString("utf8"));
  // Only a POST to exactly this path is the operation, and has documented responses.
  const isOperation = operation && method === "POST" && path === contract.operation(operation).path;
  const sent: Sent = {
    operation: isOperation ? operation : undefined,
    method,
    path,
    headers: Object.fromEntries(shown),
    text,
  };
  return { sent, call: { method, path, headers, body } };
}

function toBytes(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function toReceived(
  { status, headers, text: raw, milliseconds }: WireResponse,
  redactor: Redactor,
): Received {
  const text = redactor.apply(raw);
  return { status, headers, text, body: parseBody(text), milliseconds };
}
