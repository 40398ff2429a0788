/**
 * A merchant's program, in TypeScript; plain JavaScript when its types are stripped. It depends on no particular runtime.
 */
export const PROGRAM = `import {
  createClient,
  InvalidAmountError,
  type IssuedRefund,
  NetworkError,
  newRequestKey,
  ProblemError,
} from "@refund-contract/client";
import { fetchWebhookHandler, signWebhook } from "@refund-contract/client/webhooks";

/** Uses the exports of the package against a sandbox, and prints the results. */
export async function useClient(baseUrl: string): Promise<string[]> {
  const client = createClient({ baseUrl, accessToken: "sandbox_acme" });
  const request = { paymentId: "pay_settled", amount: "0.01", requestKey: newRequestKey() };
  const refund: IssuedRefund = await client.refunds.issue(request);
  const repeated = await client.refunds.issue(request, { repeated: true });
  const refused = await failureOf(client.refunds.issue(request));
  const failed = await client.refunds.issue({ ...request, paymentId: "pay_failed", requestKey: newRequestKey() });
  const inexact = await failureOf(client.refunds.issue({ ...request, amount: 0.001 }));
  const thin = await client.issueRefund({ ...request, amount: { currency: "USD", value: 0.01 } });
  const nobody = createClient({ baseUrl: "http://127.0.0.1:1", accessToken: "", maxAttempts: 1 });
  const silence = await failureOf(nobody.refunds.issue(request));

  const secretKey = "a secret of this program";
  const { subscriptionKey } = await client.webhooks.subscribe({
    url: "https://merchant.example.com/webhooks",
    secretKey,
    subscriptionDetails: { type: "ALL" },
  });
  const events: string[] = [];
  const receive = fetchWebhookHandler({ secretKey, onEvent: (event) => events.push(event.type), onError: () => {} });
  const delivery = signWebhook(
    { type: "account.linked", timestamp: "2026-11-25T05:00:00.000Z", sequence: 1, data: { accountId: "acc_1" } },
    secretKey,
  );
  const responses = [
    await receive(new Request("https://merchant.example.com/webhooks", delivery)),
    await receive(new Request("https://merchant.example.com/webhooks", { ...delivery, body: "{}" })),
  ];
  return [
    refund.paymentStatus,
    String(repeated.paymentId === refund.paymentId),
    refused instanceof ProblemError ? refused.errorCode : String(refused),
    failed.paymentStatus === "TERMINAL_FAILED" ? failed.errorDetails.errorCode : failed.paymentStatus,
    inexact instanceof InvalidAmountError ? inexact.field : String(inexact),
    String(thin.status),
    String(silence instanceof NetworkError),
    subscriptionKey.slice(0, 4),
    events.join(),
    responses.map(({ status }) => status).join(),
  ];
}

function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(() => "no failure", (error: unknown) => error);
}
`;

/** What the program prints in every runtime. */
export const EXPECTED =
  "AUTHORIZED true DUPLICATE_REQUEST_KEY CUSTOMER_NOT_DEBITED amount 409 true sub_ account.linked 204,400";

/** Runs it in a process that gets the sandbox's address. */
export const MAIN = `import { useClient } from "./program.js";
console.log((await useClient(process.argv.at(-1))).join(" "));
`;
