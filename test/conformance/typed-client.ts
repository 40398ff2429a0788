import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { Agent } from "undici";
import { createClient, type OperationId, UnexpectedResponseError } from "../../client/src/index.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import type { Exchange } from "../reporting/exchange.ts";
import { fail } from "./assertions.ts";
import type { Kit } from "./kit.ts";
import { createProxy } from "./prism.ts";

/** Headers of one connection, and one that Prism would follow. */
const NOT_PASSED_ON = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "trailer",
  "upgrade",
  "location",
];

/**
 * The published client, calling the service through Prism, which validates requests and responses against the document. Its
 * `call` throws a `CheckFailure` when there is no response, or client or proxy find a violation. Loading Prism takes a second, once.
 */
export function typedClientOf(kit: Kit) {
  return kit.share("typed client", async () => {
    let operation: OperationId | undefined;
    let forwarded: Promise<Exchange> | undefined;
    // Prism would wait for a response without end, and would hide why there is none. So the kit makes its calls to the service.
    const service = await serveLocally(async (request, response) => {
      try {
        forwarded = forward(kit, request, operation);
        const { status, headers, text } = (await forwarded).received;
        const passedOn = [...headers].filter(([name]) => !NOT_PASSED_ON.includes(name));
        response.writeHead(status, Object.fromEntries(passedOn)).end(text);
      } catch {
        response.destroy(); // the failure is thrown below
      }
    });
    const proxy = await createProxy(kit.contract.document, service.url);
    // Without limits of their own, which could be shorter than those of the kit, and than its waits for a rate limit.
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    const client = createClient({
      ...{ baseUrl: proxy.url, accessToken: kit.options.token ?? "" },
      ...{ attemptTimeoutMs: Number.POSITIVE_INFINITY, totalTimeoutMs: Number.POSITIVE_INFINITY },
      // Only Node knows this member.
      fetch: (request) => fetch(request, { dispatcher } as object),
    });
    kit.onClose(async () => {
      await dispatcher.destroy();
      await proxy.close();
      await service[Symbol.asyncDispose]();
    });

    return {
      /** One at a time. */
      async call(id: OperationId, body: unknown): Promise<Exchange> {
        [operation, forwarded] = [id, undefined];
        // Bodies come from the examples of the same document as the types.
        const error = await client[id](body as never).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const exchange = await (forwarded as Promise<Exchange> | undefined);
        const violations = proxy.violations.splice(0);
        if (violations.length > 0) {
          const list = violations.map(({ side, location, message }) => `${side} ${location}: ${message}`);
          fail(`a call in which Prism finds no violation of the document; ${list.join("; ")}`, exchange);
        }
        if (error instanceof UnexpectedResponseError)
          fail("a response that the typed client knows", exchange);
        if (error) throw error;
        if (!exchange) throw new Error("the client returned without a request");
        return exchange;
      },
    };
  });
}

async function forward(
  kit: Kit,
  request: IncomingMessage,
  operation: OperationId | undefined,
): Promise<Exchange> {
  const { method = "", url: path = "", headers } = request;
  return kit.send({
    ...{ method, path, ...(operation && { operation }) },
    body: await buffer(request),
    headers: {
      Accept: headers.accept ?? null,
      "Content-Type": headers["content-type"] ?? null,
      Authorization: headers.authorization ?? null,
    },
  });
}
