import { createRequire } from "node:module";
import { pino } from "pino";

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
