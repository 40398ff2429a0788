import { createRequire } from "node:module";
import { pino } from "pino";

/** A mock in this process, on a free port of the loopback. */
export type Mock = AsyncDisposable & { readonly url: string };

/** Starts Prism, which serves the document's examples: `Prefer: code=201, example=pending` chooses one. */
export async function createMock(document: object): Promise<Mock> {
  const { getHttpOperationsFromSpec, createServer } = loadPrism();
  const logger = pino({ level: "silent", customLevels: { success: 35 } });
  const checks = { checkSecurity: true, validateRequest: true, validateResponse: true, errors: true };
  // A copy, because resolving references changes the document.
  const prism = createServer(await getHttpOperationsFromSpec(structuredClone(document)), {
    components: { logger },
    config: { ...checks, isProxy: false, mock: { dynamic: false } },
    cors: false,
  });
  const url = await prism.listen(0, "127.0.0.1");
  return { url, [Symbol.asyncDispose]: () => prism.close() };
}

/** The part of Prism that we use. It is CommonJS, and its types need those of its own dependencies. */
type PrismModules = {
  getHttpOperationsFromSpec(document: object): Promise<unknown[]>;
  createServer(
    operations: unknown[],
    options: object,
  ): { listen(port: number, host: string): Promise<string>; close(): Promise<void> };
};

/** The project depends only on the command line package; the server is resolved from there. Takes a second or more, once. */
function loadPrism(): PrismModules {
  const entry = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/operations.js");
  const { getHttpOperationsFromSpec } = createRequire(import.meta.url)(entry);
  const { createServer } = createRequire(entry)("@stoplight/prism-http-server");
  return { getHttpOperationsFromSpec, createServer };
}
