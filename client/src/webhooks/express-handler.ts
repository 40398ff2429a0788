import { collectBody } from "../limited-body.ts";
import {
  createRespond,
  type SeparatedWebhookOptions,
  type WebhookHandlerOptions,
} from "./handle-delivery.ts";

/** The parts of Express's and Node's requests that the handler uses. */
export type IncomingWebhook = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly destroyed?: boolean;
  /** The result of a body parser that ran before the handler. */
  readonly body?: unknown;
  /** The bytes before a parser, as Firebase and Nest keep them. */
  readonly rawBody?: unknown;
  on(event: "data", listener: (chunk: Uint8Array | string) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
};

/** The parts of Express's and Node's responses that the handler uses. */
export type OutgoingResponse = {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
};

type ExpressHandler = (request: IncomingWebhook, response: OutgoingResponse) => Promise<void>;

/** Creates a handler that passes events of a type that this client doesn't know to `onUnknownEvent`, and is otherwise the same. */
export function expressWebhookHandler(options: SeparatedWebhookOptions): ExpressHandler;
/**
 * Creates a handler for Express and for `http.createServer`. It needs the raw body: from `request.rawBody`, from `express.raw()`, or
 * without a parser before it.
 *
 * It responds with 204 when `onEvent` has resolved, 400 with a reason when the delivery can't be verified, 413 to a body of
 * more than 64 KiB, and 500 when `onEvent` throws, so that the delivery is retried.
 * @throws TypeError when `secretKey` is missing
 */
export function expressWebhookHandler(options: WebhookHandlerOptions): ExpressHandler;
export function expressWebhookHandler(options: WebhookHandlerOptions): ExpressHandler {
  const respond = createRespond(options);
  return async (request, response) => {
    const { status, ...body } = await respond(request.headers, async () => readBody(request));
    if (response.headersSent) return; // A timeout of the application has already ended the response.
    response.statusCode = status;
    if (!("reason" in body)) {
      response.end();
      return;
    }
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(body));
  };
}

function readBody(request: IncomingWebhook): Uint8Array | Promise<Uint8Array> {
  const { rawBody, body } = request;
  if (isRaw(rawBody)) return limit(rawBody);
  if (isRaw(body)) return limit(body);
  if (request.readableEnded || isParsed(body)) {
    throw new TypeError(
      "The body was parsed already, but the signature covers the raw body: mount the handler before express.json(), or keep the bytes as request.rawBody.",
    );
  }
  return readStream(request);
}

function isRaw(body: unknown): body is string | Uint8Array {
  // Not instanceof: test runners have their own Uint8Array.
  return typeof body === "string" || ArrayBuffer.isView(body);
}

/** Express 4's parsers leave `{}` of a body that they did not read. */
function isParsed(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length > 0;
}

function limit(body: string | Uint8Array): Uint8Array {
  const collector = collectBody();
  collector.add(body);
  return collector.toBytes();
}

/** `for await` would close the connection when it stops early, before the response is sent. */
async function readStream(request: IncomingWebhook): Promise<Uint8Array> {
  const collector = collectBody();
  await new Promise<void>((resolve, reject) => {
    const hangUp = () => reject(new Error("The sender has hung up."));
    if (request.destroyed) hangUp(); // Then it emits nothing any more.
    request.on("data", (chunk) => {
      try {
        collector.add(chunk);
      } catch (error) {
        reject(error);
      }
    });
    request.on("end", resolve);
    request.on("error", reject); // Also emitted when the sender disconnects.
    request.on("close", hangUp);
  });
  return collector.toBytes();
}
