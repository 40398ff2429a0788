import { NetworkError, TimeoutError } from "./errors.ts";

/** What sends a request: the runtime's own `fetch`, or one's own. */
export type Fetch = (request: Request) => Promise<Response>;

export interface AttemptOptions {
  fetch: Fetch;
  timeoutMs: number;
  /** The caller's. */
  signal: AbortSignal | undefined;
  /** Which attempt of the call this is, from 1. */
  attempt: number;
}

/**
 * Sends a copy of the request once, and waits for the whole response, so that an incomplete one counts as none.
 *
 * @throws NetworkError without a response; TimeoutError without one in time; the signal's reason when it is aborted
 */
export async function sendOnce(
  request: Request,
  { fetch, timeoutMs, signal, attempt }: AttemptOptions,
): Promise<{ response: Response; text: string }> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timeout = new TimeoutError(timeoutMs, attempt);
  const timer = setTimeout(() => controller.abort(timeout), timeoutMs);
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  // Also without the help of a `fetch` of one's own, which may not look at the request's signal.
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  try {
    const copy = new Request(request.clone(), { signal: controller.signal });
    return await Promise.race([readResponse(fetch(copy)), aborted]);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw new NetworkError(error, attempt);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** The text is read from a copy: the caller still finds the body of the response unread. */
async function readResponse(pending: Promise<Response>): Promise<{ response: Response; text: string }> {
  const response = await pending;
  return { response, text: await response.clone().text() };
}
