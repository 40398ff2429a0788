import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { ProblemError } from "./problem.ts";

/** Takes one call off a merchant's quota; resolves with the headers that tell what is left. Throws `RATE_LIMITED`. */
export type TakeQuota = (merchant: string) => Promise<Record<string, string>>;

/** Seconds in which a merchant can use the second half of a burst once. */
const BURST_WINDOW_SECONDS = 10;

/** No limit, and no headers. */
export const unlimited: TakeQuota = async () => ({});

/** So many calls a second for each merchant, and twice as many in a burst (D27). */
export function createRateLimit(callsPerSecond: number): TakeQuota {
  const limiter = new BurstyRateLimiter(
    new RateLimiterMemory({ points: callsPerSecond, duration: 1 }),
    new RateLimiterMemory({ keyPrefix: "burst", points: callsPerSecond, duration: BURST_WINDOW_SECONDS }),
  );
  const policy = { "RateLimit-Policy": `"merchant";q=${callsPerSecond};w=1` };

  return async (merchant) => {
    try {
      return { ...policy, RateLimit: toRateLimit(await limiter.consume(merchant)) };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const retryAfter = String(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
      const headers = { ...policy, RateLimit: toRateLimit(refusal), "Retry-After": retryAfter };
      throw new ProblemError("RATE_LIMITED", { headers });
    }
  };
}

function toRateLimit({ remainingPoints, msBeforeNext }: RateLimiterRes): string {
  return `"merchant";r=${Math.max(0, remainingPoints)};t=${Math.ceil(msBeforeNext / 1000)}`;
}
