import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { type Received, startReceiver } from "../../helpers/receiver.ts";

/** Each has an odd last cent, which a 32-bit float, rounding or an exponent would lose. */
export const AMOUNTS = ["131072.01", "1234567.89", "9999999999.99"];

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEXT_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
/** Secrets that a program has to refuse, with keys that a careless decoder would make of them, and so a forger could guess. */
const WEAK: readonly [secret: string, key: string][] = [
  ["whsec_", ""],
  ["whsec_abc!", ""],
  ["whsec_abc!", "i\xb7"],
  ["whsec_abc!", "whsec_abc!"],
  ["whsec_YWJj", "abc"],
  ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "\0".repeat(23)],
  [`whsec_${"-_".repeat(16)}`, ""],
  [`whsec_${"-_".repeat(16)}`, Buffer.from("-_".repeat(16), "base64url").toString("latin1")],
];
const TOKEN = "sandbox_acme";
const HEADERS = {
  Authorization: `Bearer ${TOKEN}`,
  Accept: "application/json",
  "Content-Type": "application/json",
};

/** The output of a program, and its errors. */
export type Checked = { readonly passed: number; readonly violations: readonly string[] };

/** The environment of a program: payments to refund in the sandbox at `url`, and a delivery to verify. */
export async function prepareRun(url: string, run: string): Promise<Record<string, string>> {
  // All programs refund the payment that settled today, so each must leave enough for the next.
  const reset = await fetch(`${url}/sandbox/reset`, { method: "POST", headers: HEADERS });
  if (reset.status !== 204) throw new Error(`POST /sandbox/reset responded ${reset.status}`);
  const refunds: string[] = [];
  for (const value of AMOUNTS) {
    // Written as text, because the amounts' digits are what is tested.
    const body = `{"amount":{"currency":"USD","value":${value}}}`;
    const { paymentId } = await post(url, "/sandbox/payments", body);
    refunds.push(`${paymentId}=${value}`);
  }
  const { headers, body } = await receiveDelivery(url);
  const id = String(headers["webhook-id"]);
  const old = new Date(Date.now() - 3_600_000);
  const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
  const forgeries = WEAK.map(([secret, key]) => {
    const digest = createHmac("sha256", Buffer.from(key, "latin1")).update(signed).digest("base64");
    return `${secret}|v1,${digest}`;
  });
  return {
    PAYMENTS_URL: url,
    ACCESS_TOKEN: TOKEN,
    RUN: run,
    REFUNDS: refunds.join(","),
    WEBHOOK_SECRET: SECRET,
    WEBHOOK_ID: id,
    WEBHOOK_TIMESTAMP: String(headers["webhook-timestamp"]),
    WEBHOOK_SIGNATURE: String(headers["webhook-signature"]),
    WEBHOOK_BODY: body,
    OLD_TIMESTAMP: String(Math.floor(old.getTime() / 1000)),
    OLD_SIGNATURE: new Webhook(SECRET).sign(id, old, body),
    FORGERIES: forgeries.join(";"),
  };
}

/** Compares the `name=value` lines of a program with the expected ones, and the records that it created. */
export async function checkOutput(url: string, output: string): Promise<Checked> {
  const printed = new Map(
    output
      .split(/\r?\n/)
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1).trim()]),
  );
  const expected: [string, string | undefined, string | undefined][] = [
    ...same(printed, {
      "pending.status": "PENDING",
      "pending.reference": "order-1042",
      "failed.status": "TERMINAL_FAILED",
      "failed.errorCode": "CUSTOMER_NOT_DEBITED",
      "failed.reference": "order-1043",
      "invalid.status": "400",
      "invalid.pointer": "/amount/value",
      "duplicate.status": "409",
      "duplicate.errorCode": "DUPLICATE_REQUEST_KEY",
      "webhook.genuine": "true",
      "webhook.altered": "false",
      "webhook.old": "false",
      "webhook.forged": "false",
    }),
    [
      "duplicate.existing",
      printed.get("exact2.paymentId") ?? "a paymentId",
      printed.get("duplicate.existing"),
    ],
    ["duplicate.amount", "9999999999.99", plain(printed.get("duplicate.amount"))],
  ];
  for (const [index, amount] of AMOUNTS.entries()) {
    expected.push(["exact.status", "AUTHORIZED", printed.get(`exact${index}.status`)]);
    expected.push([
      "record's amount",
      amount,
      await storedAmount(url, printed.get(`exact${index}.paymentId`)),
    ]);
  }
  for (const kind of ["event", "category", "all"]) {
    const key = printed.get(`subscription.${kind}`);
    expected.push([`subscription.${kind}`, "204", await endSubscription(url, key)]);
  }
  const violations = expected
    .filter(([, wanted, found]) => wanted !== found)
    .map(([name, wanted, found]) => `${name} should be ${wanted} and is ${found}`);
  return { passed: expected.length - violations.length, violations };
}

function same(
  printed: ReadonlyMap<string, string>,
  wanted: Readonly<Record<string, string>>,
): [string, string, string | undefined][] {
  return Object.entries(wanted).map(([name, value]) => [name, value, printed.get(name)]);
}

/** Languages print a number with an exponent, or with trailing zeros; only its value counts here. */
function plain(number: string | undefined): string | undefined {
  return number === undefined ? undefined : String(Number(number));
}

/** The digits of a record's amount as the server sends them: parsing them could hide an error. */
async function storedAmount(url: string, paymentId: string | undefined): Promise<string | undefined> {
  const response = await fetch(`${url}/sandbox/payments/${paymentId}`, { headers: HEADERS });
  return /"value":\s*([^,}\s]+)/.exec(await response.text())?.[1];
}

async function endSubscription(url: string, key: string | undefined): Promise<string> {
  const response = await fetch(`${url}/sandbox/subscriptions/${key}`, {
    method: "DELETE",
    headers: HEADERS,
  });
  return String(response.status);
}

/** A delivery that the sandbox signed with a new secret and with the old one, which the programs have. */
async function receiveDelivery(url: string): Promise<Received> {
  await using receiver = await startReceiver();
  const subscriptionDetails = { type: "EVENT", details: ["customer.created"] };
  const subscription = { url: receiver.url, secretKey: SECRET, subscriptionDetails };
  const { subscriptionKey } = await post(url, "/v1/webhook/subscribe", JSON.stringify(subscription));
  const rotation = JSON.stringify({ secretKey: NEXT_SECRET });
  await post(url, `/sandbox/subscriptions/${subscriptionKey}/rotate-secret`, rotation);
  await post(url, "/sandbox/events", JSON.stringify({ type: "customer.created", resourceId: "cus_1" }));
  const [delivery] = await receiver.first(1);
  await endSubscription(url, subscriptionKey);
  if (!delivery) throw new Error("no delivery arrived");
  return delivery;
}

async function post(url: string, path: string, body: string): Promise<Record<string, string>> {
  const response = await fetch(url + path, { method: "POST", headers: HEADERS, body });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}
