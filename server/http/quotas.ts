import type { Logger } from "pino";

/** What taking a call off a merchant's quota has come to. */
export interface Quota {
  /** Calls that may follow at once. */
  remaining: number;
  /** Milliseconds until the whole quota is there again. */
  fullInMs: number;
  /** Milliseconds until one call may be made; 0 when this one was taken. */
  waitMs: number;
}

export type TakeCall = (merchant: string) => Promise<Quota>;

/**
 * Adds calls that were let through to what all servers know of a merchant.
 *
 * @returns milliseconds until the merchant's whole quota is there again, the calls of all servers counted
 */
export type ReportCalls = (wish: { merchant: string; calls: number; msPerCall: number }) => Promise<number>;

export interface QuotaOptions {
  callsPerSecond: number;
  /** Where servers share what they count; undefined: there is one server. */
  report: ReportCalls | undefined;
  logger: Logger;
  /** Milliseconds, on a clock that only goes forward. */
  nowMs?: () => number;
}

/** A bucket holds so many seconds' worth of calls: a burst is twice what a second brings (D27). */
const BURST_SECONDS = 2;
/** How long calls that were let through may wait to be reported, so that one report tells of many. */
const REPORT_AFTER_MS = 50;
/** Of what a second brings, so much may be unreported at each server; with that many, a call waits for the report. */
const UNREPORTED_SHARE = 0.1;
/** Without the database each server counts for itself, and tries again after this time. */
const ALONE_MS = 1_000;
const MAX_IDLE_BUCKETS = 10_000;

interface Bucket {
  /** When the bucket is full again, as far as this server knows; each call puts it off. */
  fullAtMs: number;
  /** Calls that the others do not know of yet. */
  unreported: number;
  reporting: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * A token bucket for each merchant, shared by all servers at almost no cost to a call: it is let through by what this server
 * knows, and what was let through is reported afterwards, together with other calls. A call waits for a report only when a
 * tenth of a second's quota is unreported. So the servers together let through at most so much more each, and that is a debt
 * which later calls pay: the rate over time is exact.
 */
export function createQuotas({ callsPerSecond, report, logger, nowMs = now }: QuotaOptions): TakeCall {
  const msPerCall = 1000 / callsPerSecond;
  const burstMs = BURST_SECONDS * 1000;
  const maxUnreported = Math.max(1, Math.floor(callsPerSecond * UNREPORTED_SHARE));
  const buckets = new Map<string, Bucket>();
  let aloneUntilMs = 0;

  function bucketOf(merchant: string): Bucket {
    const known = buckets.get(merchant);
    if (known) return known;
    if (buckets.size >= MAX_IDLE_BUCKETS) forgetIdle();
    const bucket = { fullAtMs: 0, unreported: 0, reporting: undefined, timer: undefined };
    buckets.set(merchant, bucket);
    return bucket;
  }

  function forgetIdle(): void {
    for (const [merchant, { fullAtMs, unreported, reporting }] of buckets) {
      if (fullAtMs <= nowMs() && unreported === 0 && !reporting) buckets.delete(merchant);
    }
  }

  function tell(merchant: string, bucket: Bucket, share: ReportCalls): Promise<void> {
    clearTimeout(bucket.timer);
    bucket.timer = undefined;
    bucket.reporting ??= tellOnce(merchant, bucket, share).finally(() => {
      bucket.reporting = undefined;
      if (bucket.unreported > 0) reportSoon(merchant, bucket);
    });
    return bucket.reporting;
  }

  async function tellOnce(merchant: string, bucket: Bucket, share: ReportCalls): Promise<void> {
    const calls = bucket.unreported;
    try {
      const fullInMs = await share({ merchant, calls, msPerCall });
      // Calls taken while the report was under way are not in it.
      bucket.fullAtMs = nowMs() + fullInMs + (bucket.unreported - calls) * msPerCall;
    } catch (error) {
      if (nowMs() >= aloneUntilMs) logger.warn({ err: error }, "can't share rate limits; counting alone");
      aloneUntilMs = nowMs() + ALONE_MS;
    }
    bucket.unreported -= calls;
  }

  function reportSoon(merchant: string, bucket: Bucket): void {
    if (!report || bucket.timer || nowMs() < aloneUntilMs) return;
    bucket.timer = setTimeout(() => void tell(merchant, bucket, report), REPORT_AFTER_MS).unref();
  }

  return async (merchant) => {
    const bucket = bucketOf(merchant);
    // Nothing may come between the check and the taking, or all calls that waited for one report would pass together.
    for (;;) {
      const usedMs = Math.max(0, bucket.fullAtMs - nowMs());
      const fullInMs = usedMs + msPerCall;
      if (fullInMs > burstMs) return { remaining: 0, fullInMs: usedMs, waitMs: fullInMs - burstMs };
      if (!report || bucket.unreported < maxUnreported || nowMs() < aloneUntilMs) {
        bucket.fullAtMs = nowMs() + fullInMs;
        bucket.unreported += report ? 1 : 0;
        reportSoon(merchant, bucket);
        return { remaining: Math.floor((burstMs - fullInMs) / msPerCall), fullInMs, waitMs: 0 };
      }
      await tell(merchant, bucket, report);
    }
  };
}

function now(): number {
  return performance.now();
}
