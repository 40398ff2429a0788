import type { ConformOptions } from "../../conformance/options.ts";
import type { Report } from "../../conformance/report.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";

/** All options that a sandbox supports, so that every check is run. */
export async function allOptions(url: string): Promise<ConformOptions> {
  return {
    url,
    token: "sandbox_acme",
    otherToken: "sandbox_globex",
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
    sandbox: true,
    burst: 0,
    sample: 1_000,
    timeoutMs: 60_000,
    only: [],
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
export function toArguments(options: ConformOptions): string[] {
  const { url, token, otherToken, secondToken, unscopedToken, payments, paymentKey, receiver } = options;
  const texts = {
    url,
    token,
    "other-token": otherToken,
    "second-token": secondToken,
    "unscoped-token": unscopedToken,
    payments: Object.entries(payments)
      .map(([kind, id]) => `${kind}=${id}`)
      .join(","),
    "payment-key": paymentKey,
    receiver,
    burst: options.burst,
    sample: options.sample,
    timeout: options.timeoutMs / 1000,
    only: options.only.join(","),
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  const flags = options.sandbox ? ["--sandbox"] : [];
  return [...given.flatMap(([name, value]) => [`--${name}`, String(value)]), ...flags];
}
