import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { buffer } from "node:stream/consumers";
import { pino } from "pino";
import { Agent } from "undici";
import { createClient, type OperationId, UnexpectedResponseError } from "../../client/src/index.ts";
import { serveLocally } from "../helpers/network/local-server.ts";
import type { Exchange } from "../reporting/exchange.ts";
import { fail } from "./assertions.ts";
import type { Kit } from "./kit.ts";

/** Prism in this process, on a free port of the loopback. */
export type PrismServer = AsyncDisposable & {
  url: string;
  close(): Promise<void>;
};

export type PrismProxy = PrismServer & {
  /** Every violation so far, in requests and in the upstream's responses. The caller empties the list. */
  violations: Violation[];
};

export type Violation = {
  call: string;
  side: "request" | "response";
  /** Its location, such as `body.amount.value`. */
  location: string;
  message: string;
};

/** Serves the document's examples: `Prefer: code=201, example=RefundPending` chooses one. */
export async function createMock(document: object): Promise<PrismServer> {
  const mock = await createPrism(document, { isProxy: false });
  return listen(mock);
}

/**
 * Forwards calls to `upstreamUrl` and validates requests and responses against the document. Prism itself responds to a call
 * that is not as documented or has no credentials, and does not forward it. Bodies are parsed and written again (10.00
 * becomes 10).
 */
export async function createProxy(document: object, upstreamUrl: string): Promise<PrismProxy> {
  const proxy = await createPrism(document, { isProxy: true, upstream: new URL(upstreamUrl) });
  const violations = recordViolations(proxy.prism);
  return Object.assign(await listen(proxy), { violations });
}

async function createPrism(document: object, mode: { isProxy: boolean; upstream?: URL }): Promise<Prism> {
  const { getHttpOperationsFromSpec, createServer } = loadPrism();
  const logger = pino({ level: "silent", customLevels: { success: 35 } });
  const checks = { checkSecurity: true, validateRequest: true, validateResponse: true, errors: true };
  // A copy, because resolving references changes the document.
  return createServer(await getHttpOperationsFromSpec(structuredClone(document)), {
    components: { logger },
    config: { ...checks, ...mode, mock: { dynamic: false } },
    cors: false,
  });
}

async function listen(prism: Prism): Promise<PrismServer> {
  const url = await prism.listen(0, "127.0.0.1");
  const close = () => prism.close();
  return { url, close, [Symbol.asyncDispose]: close };
}

/**
 * Prism reports violations in a header of the response. Its own responses lack that header, and a long header is truncated,
 * so all violations are collected here, before it writes the response.
 */
function recordViolations(prism: Prism["prism"]): Violation[] {
  const violations: Violation[] = [];
  const { request } = prism;
  prism.request = (input, ...rest) => {
    const run = request(input, ...rest);
    const call = `${input.method.toUpperCase()} ${input.url.path}`;
    const record = (side: Violation["side"], diagnostics: Diagnostic[] = []) => {
      for (const { path = [], message } of diagnostics) {
        violations.push({ call, side, location: path.join("."), message });
      }
    };
    return async () => {
      const result = await run();
      if (result._tag === "Right") {
        record("request", result.right.validations.input);
        record("response", result.right.validations.output);
      }
      return result;
    };
  };
  return violations;
}

/** The part of Prism that we use. It is CommonJS, and its types need those of its own dependencies. */
type Prism = {
  prism: { request(input: PrismInput, ...rest: unknown[]): () => Promise<PrismResult> };
  listen(port: number, host: string): Promise<string>;
  close(): Promise<void>;
};

type PrismInput = {
  method: string;
  url: { path: string };
};

type Diagnostic = {
  path?: string[];
  message: string;
};

type PrismResult =
  | { _tag: "Left"; left: Error }
  | { _tag: "Right"; right: { validations: { input: Diagnostic[]; output: Diagnostic[] } } };

type PrismModules = {
  getHttpOperationsFromSpec(document: object): Promise<unknown[]>;
  createServer(operations: unknown[], options: object): Prism;
};

/** The project depends only on the command line package; the server is resolved from there. Takes a second or more, once. */
function loadPrism(): PrismModules {
  const entry = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/operations.js");
  const { getHttpOperationsFromSpec } = createRequire(import.meta.url)(entry);
  const { createServer } = createRequire(entry)("@stoplight/prism-http-server");
  return { getHttpOperationsFromSpec, createServer };
}

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
