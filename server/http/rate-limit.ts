import { ProblemError } from "./problem.ts";
import type { TakeCall } from "./quotas.ts";

/** Takes one call off a merchant's quota; resolves with the headers that tell what is left. Throws `RATE_LIMITED`. */
export type TakeQuota = (merchant: string) => Promise<Record<string, string>>;

/** No limit, and no headers. */
export const unlimited: TakeQuota = async () => ({});

/** The limit in the words of HTTP (D27). */
export function createRateLimit(callsPerSecond: number, takeCall: TakeCall): TakeQuota {
  const policy = { "RateLimit-Policy": `"merchant";q=${callsPerSecond};w=1` };
  return async (merchant) => {
    const { remaining, fullInMs, waitMs } = await takeCall(merchant);
    const headers = { ...policy, RateLimit: `"merchant";r=${remaining};t=${Math.ceil(fullInMs / 1000)}` };
    if (waitMs === 0) return headers;
    const retryAfter = `${Math.ceil(waitMs / 1000)}`;
    throw new ProblemError("RATE_LIMITED", { headers: { ...headers, "Retry-After": retryAfter } });
  };
}
