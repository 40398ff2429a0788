import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import createClient, { type Client } from "openapi-fetch";
import { Webhook } from "standardwebhooks";
import type { components, paths } from "./payments.ts";

async function refund(client: Client<paths>, body: components["schemas"]["RefundRequest"]): Promise<string> {
  let lost = false; // whether an attempt may have made the refund although its response never came
  for (let attempt = 0; attempt < 4; attempt++) {
    let wait = 0;
    try {
      const { data, error, response } = await client.POST("/v1/refunds", {
        body,
        signal: AbortSignal.timeout(10_000),
      });
      if (data) return data.paymentStatus;
      if ("existing" in error) {
        const found = error.existing;
        const sameMoney =
          found.originalPaymentId === body.paymentId && found.amount?.value === body.amount.value;
        const isOurs = sameMoney && found.clientReferenceId === body.clientReferenceId;
        return isOurs && found.paymentStatus ? found.paymentStatus : "conflict";
      }
      const { status, headers } = response;
      if (status >= 300 && status < 500 && status !== 429) return lost ? "unknown" : "none";
      lost ||= status !== 429;
      wait = Number(headers.get("Retry-After") ?? 0);
    } catch {
      lost = true; // no response, or none that can be read
    }
    await pause(wait * 1000 + 300 * 2 ** attempt);
  }
  return "unknown";
}

function receive(secret: string, id: string, timestamp: string, signatures: string, body: Buffer): number {
  if (Buffer.from(secret.replace("whsec_", ""), "base64").length < 24) return 400; // others could guess it
  try {
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures };
    new Webhook(secret).verify(body, headers);
  } catch {
    return 400;
  }
  mkdirSync("events", { recursive: true });
  const half = `events/.${randomUUID()}`;
  writeFileSync(half, body, { flush: true });
  renameSync(half, `events/${id}`); // one file for each id: a repeat changes nothing
  return 204;
}

const [command, ...given] = process.argv.slice(2);
const { PAYMENTS_URL: baseUrl = "", PAYMENTS_TOKEN: token, WEBHOOK_SECRET: secret = "" } = process.env;
if (command === "receive") {
  const [id = "", timestamp = "", signatures = ""] = given;
  console.log(receive(secret, id, timestamp, signatures, await buffer(process.stdin)));
} else {
  const [paymentId = "", value, reference = ""] = given;
  const amount = { currency: "USD", value: Number(value) } as const;
  const client = createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${token}` },
    redirect: "manual",
  });
  console.log(
    await refund(client, { paymentId, amount, clientReferenceId: reference, requestKey: reference }),
  );
}
