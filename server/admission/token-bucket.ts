/** A token bucket, stored as the time at which it is full again: every token that is taken moves that time further away. */
export type TokenBucket = {
  /** In milliseconds, on the clock of `performance.now()`; in the past for a full bucket. */
  fullAtMs: number;
};

/** How much a bucket holds and how fast it fills. */
export type BucketSize = {
  /** Milliseconds in which one token is added. */
  msPerToken: number;
  /** Milliseconds in which an empty bucket becomes full. */
  capacityMs: number;
};

/** The result of asking a bucket for a token. */
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

/** The part of a token by which sums of times may be off; without it, the last call of a burst would often be refused. */
const ROUNDING = 0.01;

/** The size of a bucket that gains this many tokens a second. */
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
  if (!hasToken(bucket, size, nowMs)) {
    return { remaining: 0, fullInMs: missingMs, waitMs: fullInMs - capacityMs };
  }
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
