import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Received } from "../../helpers/receiver.ts";
import { type EventCase, isSame, receiveEvents, toEventCases, toLaterCases } from "./event-cases.ts";

/** A 32-bit float, rounding, an exponent or a third digit would change them. */
const AMOUNTS = ["131072.01", "0.29", "1.15", "10", "9999999999.99"];

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
/** Whose records a program uses, and the codes that it reads of a failed refund and of a repeated call. */
export type Side = { readonly token: string; readonly failure: string; readonly problem: string };

const TODAY: Side = {
  token: "sandbox_acme",
  failure: "CUSTOMER_NOT_DEBITED",
  problem: "DUPLICATE_REQUEST_KEY",
};

const headersOf = ({ token }: Side) => ({
  Authorization: `Bearer ${token}`,
  Accept: "application/json",
  "Content-Type": "application/json",
});

/** The side of the merchant that gets tomorrow's API, whose codes are drawn. */
export async function readTomorrow(url: string): Promise<Side> {
  const token = "sandbox_tomorrow";
  const response = await fetch(`${url}/sandbox/tomorrow`, { headers: headersOf({ ...TODAY, token }) });
  const { additions } = (await response.json()) as { additions: { name: string; pointer: string }[] };
  const codeOf = (schema: string) =>
    additions.find(({ pointer }) => pointer === `/components/schemas/${schema}/properties/errorCode`)?.name;
  const [failure, problem] = [codeOf("RefundErrorDetails"), codeOf("ProblemErrorDetails")];
  if (!failure || !problem) throw new Error("tomorrow's API has no new codes");
  return { token, failure, problem };
}

/** The letters of the guide's checks; `i` is the signature of a delivery, `j` all of them against tomorrow's API, `k` the exam. */
export const CHECKS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"] as const;
export type Check = (typeof CHECKS)[number];

/** The environment of a program, and what it has to print about the events in there. */
export type Run = { readonly env: Record<string, string>; readonly events: readonly EventCase[] };

/** Prepares the sandbox at `url`: payments to refund, and deliveries to verify and to decode. */
export async function prepareRun(url: string, run: string, side = TODAY): Promise<Run> {
  const post = (path: string, body: object | string) => postTo(url, path, body, side);
  // All programs refund the payment that settled today, so each must leave enough for the next.
  await post("/sandbox/reset", {});
  const refunds: string[] = [];
  for (const value of AMOUNTS) {
    // Written as text, because the amounts' digits are what is tested.
    const { paymentId } = await post("/sandbox/payments", `{"amount":{"currency":"USD","value":${value}}}`);
    refunds.push(`${paymentId}=${value}`);
  }
  const isLater = side !== TODAY;
  const delivered = await receiveEvents(post, isLater, async (receiver) => {
    const subscription = { url: receiver, secretKey: SECRET, subscriptionDetails: { type: "ALL" } };
    const { subscriptionKey } = await post("/v1/webhook/subscribe", subscription);
    // From now on deliveries have a signature of each secret. The programs have the old one.
    await post(`/sandbox/subscriptions/${subscriptionKey}/rotate-secret`, { secretKey: NEXT_SECRET });
  });
  const events = isLater ? toLaterCases(delivered) : toEventCases(delivered);
  return {
    events,
    env: {
      PAYMENTS_URL: url,
      ACCESS_TOKEN: side.token,
      RUN: run,
      REFUNDS: refunds.join(","),
      ...toVariables(events, delivered[0]),
    },
  };
}

/** A delivery to verify, an old one and forged ones, and the bodies to decode, one in a line. */
function toVariables(events: readonly EventCase[], delivery: Received | undefined) {
  if (!delivery) throw new Error("no delivery arrived");
  const { webhookId: id, headers, body } = delivery;
  const old = new Date(Date.now() - 3_600_000);
  const signed = `${id}.${headers["webhook-timestamp"]}.${body}`;
  const forgeries = WEAK.map(([secret, key]) => {
    const digest = createHmac("sha256", Buffer.from(key, "latin1")).update(signed).digest("base64");
    return `${secret}|v1,${digest}`;
  });
  return {
    WEBHOOK_SECRET: SECRET,
    WEBHOOK_ID: id,
    WEBHOOK_TIMESTAMP: String(headers["webhook-timestamp"]),
    WEBHOOK_SIGNATURE: String(headers["webhook-signature"]),
    WEBHOOK_BODY: body,
    OLD_TIMESTAMP: String(Math.floor(old.getTime() / 1000)),
    OLD_SIGNATURE: new Webhook(SECRET).sign(id, old, body),
    FORGERIES: forgeries.join(";"),
    EVENTS: events.map((event) => event.body).join("\n"),
  };
}

/** What passed, by check, as `3/3`, and what didn't. */
export type Checked = {
  readonly passed: Readonly<Partial<Record<Check, string>>>;
  readonly violations: readonly string[];
};

/** Compares the `name=value` lines of a program, and the records that it created, with the expected ones. */
export async function checkOutput(
  url: string,
  output: string,
  events: readonly EventCase[],
  side = TODAY,
): Promise<Checked> {
  const printed = new Map(
    output
      .split(/\r?\n/)
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1).trim()]),
  );
  const results: { check: Check; name: string; wanted: string; found: string | undefined }[] = [];
  const expect = (check: Check, name: string, wanted: string, found = printed.get(name)) =>
    results.push({ check: side === TODAY ? check : "j", name, wanted, found });

  expect("a", "pending.status", "PENDING");
  for (const [index, amount] of AMOUNTS.entries()) {
    expect("a", `exact${index}.status`, "AUTHORIZED");
    expect(
      "b",
      `the record of ${amount}`,
      amount,
      await storedAmount(url, printed.get(`exact${index}.paymentId`), side),
    );
  }
  expect("c", "invalid.status", "400");
  expect("c", "invalid.pointer", "/amount/value");
  expect("c", "duplicate.status", "409");
  expect("c", "duplicate.errorCode", side.problem);
  expect("c", "duplicate.existing", printed.get("exact4.paymentId") ?? "a paymentId");
  expect("c", "duplicate.amount", "9999999999.99");
  expect("d", "failed.status", "TERMINAL_FAILED");
  expect("d", "failed.errorCode", side.failure);
  expect("e", "exact0.reference", "null");
  expect("e", "pending.reference", "order-1042");
  expect("e", "failed.reference", "order-1043");
  for (const kind of ["event", "category", "all"])
    expect(
      "f",
      `subscription.${kind}`,
      "204",
      await endSubscription(url, printed.get(`subscription.${kind}`), side),
    );
  for (const [index, { check, expected }] of events.entries()) expect(check, `event${index}`, expected);
  expect("i", "webhook.genuine", "true");
  for (const name of ["altered", "old", "forged"]) expect("i", `webhook.${name}`, "false");

  const isRight = ({ wanted, found }: (typeof results)[number]) => isSame(wanted, found);
  const passed = CHECKS.flatMap((check) => {
    const own = results.filter((result) => result.check === check);
    return own.length === 0 ? [] : [[check, `${own.filter(isRight).length}/${own.length}`]];
  });
  const violations = results
    .filter((result) => !isRight(result))
    .map(({ check, name, wanted, found }) => `${check}: ${name} should be ${wanted} and is ${found}`);
  return { passed: Object.fromEntries(passed), violations };
}

/** The digits of a record's amount as the server sends them: parsing them could hide an error. */
async function storedAmount(url: string, paymentId: string | undefined, side: Side): Promise<string> {
  const response = await fetch(`${url}/sandbox/payments/${paymentId}`, { headers: headersOf(side) });
  return /"value":\s*([^,}\s]+)/.exec(await response.text())?.[1] ?? "absent";
}

async function endSubscription(url: string, key: string | undefined, side: Side): Promise<string> {
  const address = `${url}/sandbox/subscriptions/${key}`;
  return String((await fetch(address, { method: "DELETE", headers: headersOf(side) })).status);
}

async function postTo(
  url: string,
  path: string,
  body: object | string,
  side: Side,
): Promise<Record<string, string>> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url + path, { method: "POST", headers: headersOf(side), body: text });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204 ? {} : ((await response.json()) as Record<string, string>);
}
