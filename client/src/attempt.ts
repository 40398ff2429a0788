import { NetworkError, TimeoutError } from "./errors.ts";

/** The function that sends a request: the runtime's own `fetch`, or a custom one. */
export type Fetch = (request: Request) => Promise<Response>;

export type AttemptOptions = {
  fetch: Fetch;
  timeoutMs: number;
  /** The caller's signal. */
  signal: AbortSignal | undefined;
  /** Which attempt of the call this is, from 1. */
  attempt: number;
};

/**
 * Sends a copy of the request once, and waits for the whole response, so that an incomplete one counts as no response.
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
  // Needed as well, because a custom `fetch` may ignore the request's signal.
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

/** The text is read from a copy, so that the caller can still read the body of the response. */
async function readResponse(pending: Promise<Response>): Promise<{ response: Response; text: string }> {
  const response = await pending;
  return { response, text: await response.clone().text() };
}
