import { type CallProgress, NetworkError, TimeoutError } from "./errors.ts";

/**
 * Sends a copy of the request once, with an access token, and waits for the whole response, so that an incomplete one counts as
 * no response.
 * @throws NetworkError without a token or a response; TimeoutError without one in time; the signal's reason when it is aborted
 */
export async function sendOnce(
  request: Request,
  { accessToken, fetch, timeoutMs, signal, progress }: AttemptOptions,
): Promise<{ response: Response; text: string }> {
  signal?.throwIfAborted();
  if (progress.attempts) progress.attempts += 1;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TimeoutError(timeoutMs, progress)), timeoutMs);
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  // Needed as well, because a custom `fetch` may ignore the request's signal.
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  const send = async () => {
    const token = typeof accessToken === "function" ? await accessToken() : accessToken;
    const copy = new Request(request.clone(), { signal: controller.signal });
    copy.headers.set("Authorization", `Bearer ${token}`);
    controller.signal.throwIfAborted(); // the token came too late
    progress.attempts ||= 1;
    progress.outcomeUnknown = true;
    const response = await fetch(copy);
    // Read from a copy, so that the caller can still read the body of the response.
    return { response, text: await response.clone().text() };
  };
  const { outcomeUnknown } = progress;
  try {
    const received = await Promise.race([send(), aborted]);
    progress.outcomeUnknown = outcomeUnknown || received.response.status >= 500;
    return received;
  } catch (error) {
    controller.signal.throwIfAborted();
    throw new NetworkError(error, progress);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** The function that sends a request: the runtime's own `fetch`, or a custom one. */
export type Fetch = (request: Request) => Promise<Response>;

export type AccessToken = string | (() => string | Promise<string>);

export type AttemptOptions = {
  fetch: Fetch;
  accessToken: AccessToken;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Counts the attempts of the call: the first once it is sent, a later one even if it gets no token. */
  progress: CallProgress;
};
