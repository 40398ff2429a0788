import { toDelayMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { CallError, type CallProgress, toRequestId } from "./errors.ts";
import { parseJson } from "./json.ts";
import { type AccessToken, type Fetch, sendOnce } from "./send-once.ts";
import type { OperationId } from "./types.ts";

/** A `fetch` for one call, which retries it according to the plan. It throws the errors of `sendOnce`. */
export function createRetryingFetch(plan: RetryPlan): Fetch {
  return async (request) => {
    const { clock, progress, signal } = plan;
    const deadline = clock.now() + plan.totalTimeoutMs;
    for (;;) {
      const outcome = await attempt(request, plan, deadline);
      const { response, error } = outcome;
      if (!progress.attempts) throw error; // Nothing was sent.
      const waitMs = planNext(outcome, plan);
      const isLast = clock.now() + waitMs >= deadline;
      report(plan, outcome, isLast ? undefined : waitMs);
      if (!isLast) await clock.sleep(waitMs, signal);
      else if (response) return response;
      else throw error;
    }
  };
}

/** One request and its outcome, for logs, metrics and traces. */
export type AttemptReport = {
  operation: OperationId;
  /** From 1. */
  attempt: number;
  /** Includes the time to get a token. */
  durationMs: number;
  /** The status of the response; absent when there was no response. */
  status?: number;
  /** The service's id of the request; only problems carry one. */
  requestId?: string;
  /** The error, when there was no response. */
  error?: unknown;
  /** Milliseconds until the next attempt; absent when this was the last one. */
  retryInMs?: number;
};

export type RetryPlan = {
  operation: OperationId;
  fetch: Fetch;
  accessToken: AccessToken;
  clock: Clock;
  random: () => number;
  onAttempt: ((report: AttemptReport) => unknown) | undefined;
  signal: AbortSignal | undefined;
  attemptTimeoutMs: number;
  totalTimeoutMs: number;
  maxAttempts: number;
  /** Kept up to date, because the call may end with an error that reports it. */
  progress: CallProgress;
};

/** The statuses after which the contract says to send the same call again (`x-retry`), those of gateways, and no response. */
const RETRIED_STATUSES: readonly unknown[] = [undefined, 408, 429, 500, 502, 503, 504];

type Outcome = {
  response?: Response;
  text?: string;
  error?: unknown;
  durationMs: number;
};

async function attempt(request: Request, plan: RetryPlan, deadline: number): Promise<Outcome> {
  const { clock } = plan;
  const startedAt = clock.now();
  const timeoutMs = Math.min(plan.attemptTimeoutMs, deadline - startedAt);
  const received = await sendOnce(request, { ...plan, timeoutMs }).catch((error: unknown) => ({ error }));
  return { ...received, durationMs: clock.now() - startedAt };
}

/** Milliseconds until the next attempt; infinite when there must be none. */
function planNext({ response, error }: Outcome, plan: RetryPlan): number {
  const { attempts } = plan.progress;
  const isAborted = !response && !(error instanceof CallError);
  if (isAborted || attempts >= plan.maxAttempts || !RETRIED_STATUSES.includes(response?.status))
    return Infinity;
  return toDelayMs(attempts, response?.headers, plan.random);
}

/** An observer that fails must not end the call. */
async function report(
  plan: RetryPlan,
  { response, text, error, durationMs }: Outcome,
  retryInMs?: number,
): Promise<void> {
  const { operation, onAttempt, progress } = plan;
  const requestId = toRequestId(Object(parseJson(text ?? "")));
  try {
    await onAttempt?.({
      operation,
      attempt: progress.attempts,
      durationMs,
      ...(response ? { status: response.status } : { error }),
      ...(requestId !== undefined && { requestId }),
      ...(retryInMs !== undefined && { retryInMs }),
    });
  } catch {}
}
