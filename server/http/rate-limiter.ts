import type { Logger } from "pino";
import { ProblemError } from "../contract/problem.ts";
import type { RequestLocals } from "./request-locals.ts";

/**
 * A token bucket for each merchant (D27), shared by all servers at almost no cost to a request: a server decides by its own
 * count, and reports the requests afterwards, several at once. A request waits for a report only when a tenth of a second's
 * requests are unreported. So each server can exceed the limit by at most that many, and later requests make up for it: over
 * time the rate is exact.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { requestsPerSecond, report, logger, nowMs = () => performance.now() } = options;
  const msPerToken = 1000 / requestsPerSecond;
  const maxUnreported = Math.max(1, Math.floor(requestsPerSecond * MAX_UNREPORTED_SHARE));
  const buckets = new Map<string, SharedBucket>();
  let aloneUntilMs = 0;
  let stopped = false;

  function bucketOf(merchant: string): SharedBucket {
    const known = buckets.get(merchant);
    if (known) return known;
    if (buckets.size >= MAX_BUCKETS) dropFullBuckets();
    const bucket = { fullAtMs: 0, unreported: 0, reporting: undefined, timer: undefined };
    buckets.set(merchant, bucket);
    return bucket;
  }

  function dropFullBuckets(): void {
    for (const [merchant, { fullAtMs, unreported, reporting }] of buckets) {
      if (fullAtMs <= nowMs() && unreported === 0 && !reporting) buckets.delete(merchant);
    }
  }

  /** One report at a time: requests that come during it are reported by the next. */
  function sendReport(merchant: string, bucket: SharedBucket, send: ReportCalls): Promise<void> {
    clearTimeout(bucket.timer);
    bucket.timer = undefined;
    bucket.reporting ??= sendOnce(merchant, bucket, send).finally(() => {
      bucket.reporting = undefined;
      if (bucket.unreported !== 0) reportSoon(merchant, bucket);
    });
    return bucket.reporting;
  }

  async function sendOnce(merchant: string, bucket: SharedBucket, send: ReportCalls): Promise<void> {
    const calls = bucket.unreported;
    try {
      const fullInMs = await send({ merchant, calls, msPerCall: msPerToken });
      // The report does not include the requests that were let through during it.
      bucket.fullAtMs = nowMs() + fullInMs + (bucket.unreported - calls) * msPerToken;
    } catch (error) {
      if (nowMs() >= aloneUntilMs) logger.warn({ err: error }, "can't share rate limits; counting alone");
      aloneUntilMs = nowMs() + ALONE_MS;
    }
    bucket.unreported -= calls;
  }

  function reportSoon(merchant: string, bucket: SharedBucket): void {
    if (!report || stopped || bucket.timer || nowMs() < aloneUntilMs) return;
    bucket.timer = setTimeout(() => void sendReport(merchant, bucket, report), REPORT_AFTER_MS).unref();
  }

  const wholeTokens = (missingMs: number) => Math.floor((CAPACITY_MS - missingMs) / msPerToken + ROUNDING);
  /** The part of a bucket that is empty, as the time in which it fills. */
  const emptyMs = ({ fullAtMs }: SharedBucket) => Math.max(0, fullAtMs - nowMs());

  async function take(merchant: string): Promise<Take> {
    const bucket = bucketOf(merchant);
    const mustReport = () => bucket.unreported >= maxUnreported && nowMs() >= aloneUntilMs;
    // Checked again after each report: otherwise all requests that waited for the same report would pass together.
    while (report && mustReport() && wholeTokens(emptyMs(bucket)) > 0)
      await sendReport(merchant, bucket, report);
    const missingMs = emptyMs(bucket);
    const fullInMs = missingMs + msPerToken;
    if (wholeTokens(missingMs) <= 0)
      return { remaining: 0, fullInMs: missingMs, waitMs: fullInMs - CAPACITY_MS };
    bucket.fullAtMs = nowMs() + fullInMs;
    count(merchant, bucket, 1);
    return { remaining: wholeTokens(fullInMs), fullInMs, waitMs: 0 };
  }

  function count(merchant: string, bucket: SharedBucket, calls: number): void {
    if (!report) return;
    bucket.unreported += calls;
    reportSoon(merchant, bucket);
  }

  return {
    requestsPerSecond,
    take,
    charge(merchant, tokens) {
      const bucket = bucketOf(merchant);
      const burst = 2 * requestsPerSecond;
      const taken = Math.max(-burst, Math.min(tokens, burst));
      // Of calls under way together, the first may exceed the limit; the others wait until the bucket is full enough again.
      const waitMs = emptyMs(bucket) - CAPACITY_MS;
      if (taken > 0 && wholeTokens(emptyMs(bucket)) < 0) return waitMs;
      // Given back to a full bucket, it stays full: its time moves further into the past.
      bucket.fullAtMs =
        (taken > 0 ? Math.max(nowMs(), bucket.fullAtMs) : bucket.fullAtMs) + taken * msPerToken;
      count(merchant, bucket, taken);
      return 0;
    },
    async stop() {
      stopped = true;
      for (const { timer } of buckets.values()) clearTimeout(timer);
    },
  };
}

/** Counts a request, and leaves in its locals what undoes that. Resolves with the limit's headers. Throws `RATE_LIMITED`. */
export type LimitRate = (merchant: string, locals: RequestLocals) => Promise<Record<string, string>>;

/**
 * The limit as HTTP headers (D27), such as `RateLimit-Policy: "merchant";q=100;w=1` and `RateLimit: "merchant";r=199;t=1`.
 * @param limiter undefined: no limit, and no headers
 */
export function limitRate(limiter: RateLimiter | undefined): LimitRate {
  if (!limiter) return async () => ({});
  const policy = { "RateLimit-Policy": `"merchant";q=${limiter.requestsPerSecond};w=1` };
  return async (merchant, locals) => {
    const { remaining, fullInMs, waitMs } = await limiter.take(merchant);
    const headers = { ...policy, RateLimit: `"merchant";r=${remaining};t=${Math.ceil(fullInMs / 1000)}` };
    if (waitMs === 0) {
      locals.uncount = () => limiter.charge(merchant, -1);
      return headers;
    }
    const retryAfter = `${Math.ceil(waitMs / 1000)}`;
    throw new ProblemError("RATE_LIMITED", { headers: { ...headers, "Retry-After": retryAfter } });
  };
}

export type Take = {
  /** Whole tokens that are left: requests that may follow at once. */
  remaining: number;
  /** Milliseconds until the bucket is full. */
  fullInMs: number;
  /** Milliseconds until the bucket has a token; 0 when this request got one. */
  waitMs: number;
};

/** The milliseconds in which an empty bucket becomes full: it holds the tokens of two seconds, 200 at 100 a second (D27). */
const CAPACITY_MS = 2_000;

/** The tolerance for rounding, in tokens: without it, the last call of a burst would often be refused. */
const ROUNDING = 0.01;

export type RateLimiter = {
  requestsPerSecond: number;
  /** Takes a token from a merchant's bucket; `waitMs` above 0 means that the request exceeds the limit. */
  take(merchant: string): Promise<Take>;
  /**
   * Takes further tokens for a request, at most a full bucket, or gives tokens back (below 0).
   * @returns the milliseconds to wait before they can be taken; 0 when they were
   */
  charge(merchant: string, tokens: number): number;
  stop(): Promise<void>;
};

/**
 * Adds calls to the count that all servers share; a negative number is subtracted.
 * @returns milliseconds until the merchant's bucket is full, with the requests of all servers counted
 */
export type ReportCalls = (report: { merchant: string; calls: number; msPerCall: number }) => Promise<number>;

export type RateLimiterOptions = {
  requestsPerSecond: number;
  /** Undefined for a single server, which shares its count with no other. */
  report: ReportCalls | undefined;
  logger: Logger;
  /** Milliseconds, on a clock that never goes back. */
  nowMs?: () => number;
};

/** How long requests wait to be reported, in milliseconds, so that one report holds many. */
const REPORT_AFTER_MS = 50;
/** The share of a second's requests that a server may leave unreported; with that many, a request waits for the report. */
const MAX_UNREPORTED_SHARE = 0.1;
/** After a failed report the server counts alone for this time, in milliseconds, before it tries again. */
const ALONE_MS = 1_000;
/** When this many buckets are in memory, the full ones are dropped. */
const MAX_BUCKETS = 10_000;

/** A token bucket, stored as the time at which it is full again: each token taken moves that time further away. */
type SharedBucket = {
  /** In milliseconds, on the clock of `performance.now()`; in the past for a full bucket. */
  fullAtMs: number;
  /** Requests that have not yet been reported to the other servers; below 0 when more were given back than taken. */
  unreported: number;
  reporting: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
};
