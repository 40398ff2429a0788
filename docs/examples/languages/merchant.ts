import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import { Webhook } from "standardwebhooks";
import type { components, paths } from "./payments.ts";

// A merchant's program: `refund PAYMENT AMOUNT REFERENCE` issues a refund safely, `receive ID TIME SIGNATURES` takes an event from standard input.
/** What each status means for a refund, by the contract. */
const retries: Record<string, string> = JSON.parse(readFileSync("retries.json", "utf8"));

async function refund(client: Client<paths>, body: components["schemas"]["RefundRequest"]): Promise<string> {
  for (let attempt = 0; attempt < 4; attempt++) {
    const signal = AbortSignal.timeout(10_000);
    const result = await client.POST("/v1/refunds", { body, signal }).catch(() => undefined); // no response, or none to read
    if (result?.data) return result.data.paymentStatus;
    if (result?.error && "existing" in result.error) {
      const { originalPaymentId, amount, clientReferenceId, paymentStatus } = result.error.existing;
      const isOurs = originalPaymentId === body.paymentId && amount?.value === body.amount.value;
      return (isOurs && clientReferenceId === body.clientReferenceId && paymentStatus) || "conflict";
    }
    const { status = 500, headers } = result?.response ?? {};
    // Only such a refusal shows that no attempt made the refund, of this run or of an earlier one.
    if (retries[status] === "none" && result?.error && "errorDetails" in result.error) return "none";
    if (status < 500 && retries[status] !== "again") return "unknown";
    await pause(Number(headers?.get("Retry-After") ?? 0) * 1000 + 300 * 2 ** attempt);
  }
  return "unknown";
}

function receive(secret: string, [id = "", timestamp = "", signatures = ""]: string[], body: Buffer): number {
  if (Buffer.from(secret.replace("whsec_", ""), "base64").length < 24) return 400; // others could guess it
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures };
  try {
    new Webhook(secret).verify(body, headers);
  } catch {
    return 400;
  }
  mkdirSync("events", { recursive: true });
  const half = `events/.${randomUUID()}`;
  writeFileSync(half, body, { flush: true });
  renameSync(half, `events/${id}`); // one file for each id: a repeat changes nothing, after a restart either
  return 204;
}

const [command, ...given] = process.argv.slice(2);
const { PAYMENTS_URL: baseUrl = "", PAYMENTS_TOKEN: token, WEBHOOK_SECRET: secret = "" } = process.env;
const [paymentId = "", value, reference = ""] = given;
const amount = { currency: "USD", value: Number(value) } as const;
const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${token}` },
  redirect: "manual",
});
if (command === "receive") console.log(receive(secret, given, await buffer(process.stdin)));
else
  console.log(
    await refund(client, { paymentId, amount, clientReferenceId: reference, requestKey: reference }),
  );
