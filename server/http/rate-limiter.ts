import type { Logger } from "pino";

/** A token bucket, stored as the time at which it is full again: each token taken moves that time further away. */
export type TokenBucket = {
  /** In milliseconds, on the clock of `performance.now()`; in the past for a full bucket. */
  fullAtMs: number;
};

export type BucketSize = {
  /** Milliseconds in which one token is added. */
  msPerToken: number;
  /** Milliseconds in which an empty bucket becomes full. */
  capacityMs: number;
};

export type Take = {
  /** Whole tokens that are left: requests that may follow at once. */
  remaining: number;
  /** Milliseconds until the bucket is full. */
  fullInMs: number;
  /** Milliseconds until the bucket has a token; 0 when this request got one. */
  waitMs: number;
};

/** A bucket holds the tokens of two seconds: 200 at 100 a second (D27). */
const BURST_SECONDS = 2;

/** The tolerance for rounding, in tokens: without it, the last call of a burst would often be refused. */
const ROUNDING = 0.01;

export function bucketSize(tokensPerSecond: number): BucketSize {
  return { msPerToken: 1000 / tokensPerSecond, capacityMs: BURST_SECONDS * 1000 };
}

/** Whether {@link takeToken} would get a token at this time. */
export function hasToken(bucket: TokenBucket, size: BucketSize, nowMs: number): boolean {
  return wholeTokens(size, emptyMs(bucket, nowMs)) > 0;
}

/** Takes a token from the bucket if there is one; an empty bucket stays as it is. */
export function takeToken(bucket: TokenBucket, size: BucketSize, nowMs: number): Take {
  const { msPerToken, capacityMs } = size;
  const missingMs = emptyMs(bucket, nowMs);
  const fullInMs = missingMs + msPerToken;
  if (!hasToken(bucket, size, nowMs))
    return { remaining: 0, fullInMs: missingMs, waitMs: fullInMs - capacityMs };
  bucket.fullAtMs = nowMs + fullInMs;
  return { remaining: wholeTokens(size, fullInMs), fullInMs, waitMs: 0 };
}

function wholeTokens({ msPerToken, capacityMs }: BucketSize, missingMs: number): number {
  return Math.floor((capacityMs - missingMs) / msPerToken + ROUNDING);
}

/** The part of the bucket that is empty, as the time in which it fills. */
function emptyMs({ fullAtMs }: TokenBucket, nowMs: number): number {
  return Math.max(0, fullAtMs - nowMs);
}

export type RateLimiter = {
  requestsPerSecond: number;
  /** Takes a token from a merchant's bucket; `waitMs` above 0 means that the request exceeds the limit. */
  take(merchant: string): Promise<Take>;
  /** Gives back the token of a request that was refused through no fault of its merchant. */
  giveBack(merchant: string): void;
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

type SharedBucket = TokenBucket & {
  /** Requests that have not yet been reported to the other servers; below 0 when more were given back than taken. */
  unreported: number;
  reporting: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
};

/**
 * A token bucket for each merchant (D27), shared by all servers at almost no cost to a request: a server decides by its own
 * count, and reports the requests afterwards, several at once. A request waits for a report only when a tenth of a second's
 * requests are unreported. So each server can exceed the limit by at most that many, and later requests make up for it: over
 * time the rate is exact.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { requestsPerSecond, report, logger, nowMs = () => performance.now() } = options;
  const size = bucketSize(requestsPerSecond);
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
      const fullInMs = await send({ merchant, calls, msPerCall: size.msPerToken });
      // The report does not include the requests that were let through during it.
      bucket.fullAtMs = nowMs() + fullInMs + (bucket.unreported - calls) * size.msPerToken;
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

  async function take(merchant: string): Promise<Take> {
    const bucket = bucketOf(merchant);
    const mustReport = () => bucket.unreported >= maxUnreported && nowMs() >= aloneUntilMs;
    // Checked again after each report: otherwise all requests that waited for the same report would pass together.
    while (report && mustReport() && hasToken(bucket, size, nowMs()))
      await sendReport(merchant, bucket, report);
    const taken = takeToken(bucket, size, nowMs());
    if (taken.waitMs === 0) count(merchant, bucket, 1);
    return taken;
  }

  function count(merchant: string, bucket: SharedBucket, calls: 1 | -1): void {
    if (!report) return;
    bucket.unreported += calls;
    reportSoon(merchant, bucket);
  }

  return {
    requestsPerSecond,
    take,
    giveBack(merchant) {
      const bucket = bucketOf(merchant);
      // A full bucket stays full: its time moves further into the past.
      bucket.fullAtMs -= size.msPerToken;
      count(merchant, bucket, -1);
    },
    async stop() {
      stopped = true;
      for (const { timer } of buckets.values()) clearTimeout(timer);
    },
  };
}
