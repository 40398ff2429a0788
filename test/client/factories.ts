/** Requests, responses and a client with a fixed clock, for tests of the client. */
import { type AttemptReport, CallError, type ClientOptions, createClient } from "../../client/src/index.ts";
import { json, REFUND } from "./scripted-server.ts";

export const REQUEST = { paymentId: "pay_1", amount: "1.00", requestKey: "key-1" };
export const SUBSCRIPTION = {
  url: "https://merchant.example.com/webhooks",
  secretKey: "s",
  subscriptionDetails: { type: "ALL" },
} as const;
export const made = json(201, REFUND);

/**
 * A client with its own clock, which sleeping moves forward. The random number is always one half, so that a delay is half
 * its limit.
 */
export function createTestClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const waits: number[] = [];
  const reports: AttemptReport[] = [];
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      waits.push(ms);
      now += ms;
    },
  };
  const onAttempt = (report: AttemptReport) => void reports.push(report);
  const client = createClient({ baseUrl, accessToken: "t", clock, random: () => 0.5, onAttempt, ...options });
  return { client, waits, reports };
}

/** The result or the error of a call. */
export async function failureOf(call: Promise<unknown>): Promise<CallError> {
  const error = await call.then(
    (value) => new Error(`gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof CallError) return error;
  throw error;
}
