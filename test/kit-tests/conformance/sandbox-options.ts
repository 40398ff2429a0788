import { ACCESS_TOKEN, OTHER_ACCESS_TOKEN } from "../../../server/sandbox/sandbox-client.ts";
import { type ConformOptions, DEFAULTS } from "../../conformance/options.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import type { Report } from "../../reporting/json-junit-html.ts";
import { toFlag } from "../../reporting/option-readers.ts";

/** All options that a sandbox supports, so that every check is run. */
export async function allOptions(url: string): Promise<ConformOptions> {
  return {
    ...DEFAULTS,
    url,
    token: ACCESS_TOKEN,
    otherToken: OTHER_ACCESS_TOKEN,
    secondToken: await createToken(url, ["refunds", "webhooks"]),
    unscopedToken: await createToken(url, []),
    payments: {
      settled: "pay_settled",
      recent: "pay_recent",
      processing: "pay_processing",
      failed: "pay_failed",
      covered: "pay_covered",
      refund: "pay_refund",
    },
    paymentKey: "debit-1042",
    receiver: "http://127.0.0.1:0",
    sample: 1_000,
    timeoutMs: 60_000,
  };
}

async function createToken(url: string, scopes: readonly string[]): Promise<string> {
  const { body } = await sandboxOf({ url })("createToken", { body: { scopes } });
  return body.accessToken;
}

/** Restores acme's records, and ends its subscriptions. */
export async function resetMerchant(url: string): Promise<void> {
  await sandboxOf({ url })("resetSandbox");
}

export function failedIn({ results }: Report): string[] {
  return results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
}

export function notRunIn({ results }: Report): string[] {
  return results.filter(({ outcome }) => outcome === "not run").map(({ id }) => id);
}

/** The options as arguments of the command line. */
export function toArguments({ payments, timeoutMs, ...options }: ConformOptions): string[] {
  const kinds = Object.entries(payments).map((pair) => pair.join("="));
  const given = { ...options, payments: kinds, timeout: timeoutMs / 1000 };
  return Object.entries(given).flatMap(([name, value]) => {
    if (typeof value === "boolean") return value ? toFlag(name) : [];
    return [toFlag(name), String(value)];
  });
}
