import {
  type Client,
  createClient,
  type OperationId,
  UnexpectedResponseError,
} from "../../client/src/index.ts";
import { createProxy, type Violation } from "../helpers/prism.ts";
import { CheckFailure, type Exchange, type Sent } from "../reporting/exchange.ts";
import type { Kit } from "./kit.ts";
import { retryWhileLimited } from "./transport.ts";

/** The proxy closes its own connections before it is closed; those of a service that hangs stay open. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * The published client, calling the service through Prism, which validates requests and responses against the document. Its
 * `call` throws a `CheckFailure` when client or proxy find a violation. Loading Prism takes a second, once.
 */
export function typedClientOf(kit: Kit) {
  return kit.share("typed client", async () => {
    const { options, contract } = kit;
    const proxy = await createProxy(contract.document, options.url);
    kit.onClose(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      await Promise.race([proxy.close(), promise]);
      clearTimeout(timer);
    });
    return { call: (id: OperationId, body: unknown) => call(kit, proxy, id, body) };
  });
}

type Proxy = { readonly url: string; readonly violations: readonly Violation[] };

async function call(kit: Kit, proxy: Proxy, id: OperationId, body: unknown): Promise<Exchange> {
  const { path, method } = kit.contract.operation(id);
  const text = kit.redactor.apply(JSON.stringify(body));
  const headers = { Accept: "application/json", Authorization: "Bearer ‹token›" };
  const sent: Sent = { operation: id, method, path, headers, text };
  let last: Exchange | undefined;
  const fetchOnce = async (request: Request): Promise<Response> => {
    const seen = proxy.violations.length;
    const { response, received } = await fetchWhole(request, kit.options.timeoutMs);
    refuseViolations(proxy.violations.slice(seen), sent);
    last = kit.keep(sent, received);
    return response;
  };
  const client = createClient({
    baseUrl: proxy.url,
    accessToken: kit.options.token ?? "",
    fetch: (request) => retryWhileLimited(sent, () => fetchOnce(request.clone())),
  });
  await callTyped(client, id, body).catch((error: unknown) => {
    throw toFailure(error, sent, last);
  });
  if (!last) throw new Error("the client returned without a request");
  return last;
}

/** Bodies come from the examples of the same document as the types. */
function callTyped(client: Client, id: OperationId, body: unknown): Promise<unknown> {
  return client[id](body as never);
}

async function fetchWhole(request: Request, timeoutMs: number) {
  const startedAt = performance.now();
  const response = await fetch(request, { signal: AbortSignal.timeout(timeoutMs) });
  const { status, headers } = response;
  const text = await response.clone().text();
  return { response, received: { status, headers, text, milliseconds: performance.now() - startedAt } };
}

function toFailure(error: unknown, sent: Sent, last: Exchange | undefined): unknown {
  if (error instanceof CheckFailure) return error;
  if (error instanceof UnexpectedResponseError && last) {
    return new CheckFailure("a response that the typed client knows", last);
  }
  const timedOut = error instanceof DOMException && error.name === "TimeoutError";
  const reason = error instanceof Error ? error.message : String(error);
  return new CheckFailure("a response", { sent, received: `no response: ${reason}`, timedOut });
}

/** In this case Prism responds itself, and the service's own response is lost. */
function refuseViolations(violations: readonly Violation[], sent: Sent): void {
  if (violations.length === 0) return;
  const list = violations.map(({ side, location, message }) => `${side} ${location}: ${message}`).join("\n");
  throw new CheckFailure("a call in which Prism finds no violation of the document", {
    sent,
    received: list,
  });
}
