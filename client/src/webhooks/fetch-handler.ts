import { collectBody } from "../limited-body.ts";
import {
  createRespond,
  type SeparatedWebhookOptions,
  type WebhookHandlerOptions,
} from "./handle-delivery.ts";

type FetchHandler = (request: Request) => Promise<Response>;

/** Creates a handler that passes events of a type that this client doesn't know to `onUnknownEvent`, and is otherwise the same. */
export function fetchWebhookHandler(options: SeparatedWebhookOptions): FetchHandler;
/**
 * Creates a handler for everything that uses the Fetch API: workers, Deno, Bun, Hono, Next.js routes.
 *
 * It responds with 204 when `onEvent` has resolved, 400 with a reason when the delivery can't be verified, 413 to a body of
 * more than 64 KiB, and 500 when `onEvent` throws, so that the delivery is retried.
 * @throws TypeError when `secretKey` is missing
 */
export function fetchWebhookHandler(options: WebhookHandlerOptions): FetchHandler;
export function fetchWebhookHandler(options: WebhookHandlerOptions): FetchHandler {
  const respond = createRespond(options);
  return async (request) => {
    const { status, ...body } = await respond(request.headers, () => readBody(request));
    return "reason" in body ? Response.json(body, { status }) : new Response(null, { status });
  };
}

async function readBody(request: Request): Promise<Uint8Array> {
  if (request.bodyUsed) throw new TypeError("The body was read already: pass on the unread request.");
  const collector = collectBody();
  const reader = request.body?.getReader();
  try {
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read())
      collector.add(chunk.value);
  } finally {
    await reader?.cancel(); // The rest of a body that is too long is not read.
  }
  return collector.toBytes();
}
