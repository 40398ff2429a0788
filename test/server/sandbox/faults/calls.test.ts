import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readContract } from "../../../../openapi/document/contract.ts";
import type { NewFault } from "../../../../server/sandbox/faults/kinds.ts";
import { refundOf, subscriptionTo } from "../../../helpers/factories.ts";
import { startProduction } from "../../../helpers/production.ts";
import { createSandboxMerchant, type Merchant, problemOf, violationAt } from "../../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer } from "../../../helpers/server.ts";

const published = readContract("openapi");

let server: TestServer;
let acme: Merchant;
let paymentId: string;

beforeAll(async () => {
  server = await startTestServer();
  return () => server.close();
});
beforeEach(async () => {
  acme = await createSandboxMerchant(server);
  ({ paymentId } = await acme.create());
});

type Outcome = { status: number | string; type?: string | null; retryAfter?: string | null; text: string };

/** Sends a call, and reads as much of the response as comes. */
async function send(body: unknown, { path = "/v1/refunds", fault = "" } = {}): Promise<Outcome> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${acme.token}`,
      "Content-Type": "application/json",
      Accept: "application/json",
      ...(fault !== "" && { "Sandbox-Fault": fault }),
    },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  if (!response) return { status: "closed", text: "" };
  const { status, headers } = response;
  const rest = { type: headers.get("content-type"), retryAfter: headers.get("retry-after") };
  const text = await response.text().catch(() => "cut");
  if (text !== "cut" && status !== 502) {
    const result = { status, headers, body: JSON.parse(text) };
    const id = path === "/v1/refunds" ? "issueRefund" : "subscribeToWebhooks";
    expect(published.violationsOf(id, result)).toEqual([]);
  }
  return { status, ...rest, text };
}

const arm = (body: NewFault) => acme.sandbox("armFault", { body });
const faults = async () => (await acme.sandbox("listFaults")).body.items;
const recorded = async () => (await acme.sandbox("listRequests")).body.items;

/** A fault, what the caller gets, what the list of requests says, and what the same call gets afterwards. */
const table: [
  fault: NewFault,
  header: string,
  got: Partial<Outcome>,
  status: number | null,
  repeated: number,
][] = [
  [
    { kind: "UNAVAILABLE", retryAfter: 7 },
    "UNAVAILABLE; retryAfter=7",
    { status: 503, retryAfter: "7" },
    503,
    201,
  ],
  [
    { kind: "RATE_LIMITED", retryAfter: 0 },
    "RATE_LIMITED;retryAfter=0",
    { status: 429, retryAfter: "0" },
    429,
    201,
  ],
  [{ kind: "INTERNAL_ERROR" }, "INTERNAL_ERROR", { status: 500 }, 500, 201],
  [{ kind: "SLOW", delayMs: 250 }, "SLOW; delayMs=250", { status: 201 }, 201, 409],
  [{ kind: "CLOSED_BEFORE" }, "CLOSED_BEFORE", { status: "closed" }, null, 201],
  [{ kind: "CLOSED_AFTER" }, "CLOSED_AFTER", { status: "closed" }, null, 409],
  [{ kind: "TRUNCATED" }, "TRUNCATED", { status: 201, text: "cut" }, 201, 409],
  [{ kind: "BAD_GATEWAY" }, "BAD_GATEWAY", { status: 502, type: "text/html" }, 502, 201],
];

/** @decision D25 */
describe("a fault of calls", () => {
  describe.each(["armed", "in the header"])("%s", (how) => {
    test.each(table)("$kind", async (fault, header, got, status, repeated) => {
      const body = refundOf(paymentId);
      if (how === "armed") await arm(fault);
      const startedAt = performance.now();

      const response = await send(body, how === "armed" ? {} : { fault: header });

      const tookMs = performance.now() - startedAt;
      expect(response).toMatchObject(got);
      expect(tookMs).toBeGreaterThan(fault.delayMs ?? 0);
      expect((await send(body)).status).toBe(repeated);
      const [second, first] = await recorded();
      expect(first).toMatchObject({ status, fault: fault.kind, requestKey: body.requestKey });
      expect(second).toMatchObject({ status: repeated, fault: null });
      if (fault.kind === "CLOSED_AFTER") expect(first?.paymentId).toMatch(/^rfd_/);
      const { requestId } = first ?? {};
      expect(await faults()).toMatchObject(
        how === "armed" ? [{ ...fault, remaining: 0, hits: [{ requestId, statuses: [status] }] }] : [],
      );
    });
  });

  test("happens to as many calls as it says, also when they come at once, and to no call that is refused", async () => {
    await arm({ kind: "UNAVAILABLE", times: 3 });
    await arm({ kind: "RATE_LIMITED", times: 2 });

    const refused = await send({});
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(refundOf(paymentId))));

    expect(refused.status).toBe(400);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      201, 201, 201, 429, 429, 503, 503, 503,
    ]);
    expect((await faults()).map(({ remaining, hits }) => [remaining, hits.length])).toEqual([
      [0, 2],
      [0, 3],
    ]);
  });

  test("happens only to calls of its operation, with its requestKey, and of its merchant", async () => {
    const mine = refundOf(paymentId);
    const other = await createSandboxMerchant(server);
    await arm({ kind: "UNAVAILABLE", requestKey: mine.requestKey });
    await arm({ kind: "INTERNAL_ERROR", operation: "subscribeToWebhooks" });

    const responses = [
      (await other.issue(refundOf((await other.create()).paymentId))).status,
      (await send(refundOf(paymentId))).status,
      (await send(mine)).status,
      (await send(subscriptionTo("https://merchant.example.com/"), { path: "/v1/webhook/subscribe" })).status,
    ];

    expect(responses).toEqual([201, 201, 503, 500]);
    expect((await other.sandbox("listFaults")).body).toEqual({ items: [] });
  });

  test("ends when it is cleared, and when the sandbox is reset", async () => {
    for (const end of ["clearFaults", "resetSandbox"] as const) {
      await arm({ kind: "UNAVAILABLE", times: 1000 });
      expect((await send(refundOf(paymentId))).status).toBe(503);
      await acme.sandbox(end);
      expect(await faults()).toEqual([]);
      expect((await send(refundOf(paymentId))).status).not.toBe(503);
    }
  });

  test("is kept with the hundred newest; when all of them are armed, no other is", async () => {
    await arm({ kind: "UNAVAILABLE" });
    await send(refundOf(paymentId));
    for (let count = 0; count < 100; count += 1) expect((await arm({ kind: "TWICE" })).status).toBe(201);

    const refused = await arm({ kind: "TWICE" });

    expect(problemOf(refused)).toEqual(violationAt("", expect.stringContaining("clear them first")));
    expect((await faults()).map(({ kind }) => kind)).toEqual(Array(100).fill("TWICE"));
  });
});

const WRONG: [body: object, pointer: string, message: RegExp][] = [
  [{}, "/kind", /is missing/],
  [{ kind: "FLOOD" }, "/kind", /must be one of: UNAVAILABLE/],
  [{ kind: "SLOW", times: 0 }, "/times", />= 1/],
  [{ kind: "SLOW", times: 1001 }, "/times", /<= 1000/],
  [{ kind: "SLOW", delayMs: 60_001 }, "/delayMs", /<= 60000/],
  [{ kind: "SLOW", retryAfter: 1 }, "/retryAfter", /not a setting of SLOW; leave it out/],
  [{ kind: "UNAVAILABLE", delayMs: 1 }, "/delayMs", /not a setting of UNAVAILABLE; leave it out/],
  [{ kind: "TWICE", operation: "issueRefund" }, "/operation", /not a setting of TWICE; leave it out/],
  [{ kind: "OUT_OF_ORDER", times: 1 }, "/times", /at least 2 for OUT_OF_ORDER/],
  [{ kind: "BURST", copies: 101 }, "/copies", /<= 100/],
  [{ kind: "SLOW", operation: "subscribeToWebhooks", requestKey: "k" }, "/requestKey", /only in refunds/],
  [{ kind: "SLOW", seconds: 1 }, "/seconds", /remove it/],
];

const WRONG_HEADERS: [value: string, message: RegExp][] = [
  ["SLOWLY", /has "SLOWLY"; send one of UNAVAILABLE/],
  ["slow", /send one of UNAVAILABLE/],
  ["TWICE", /faults of deliveries to POST \/sandbox\/faults/],
  ["SLOW; delayMs=0", /has "delayMs=0"; send SLOW; delayMs=N with a whole number from 1 to 60000/],
  ["SLOW; delayMs=-1", /from 1 to 60000/],
  ["SLOW; times=2", /has "times=2"/],
  ["CLOSED_AFTER; delayMs=1", /CLOSED_AFTER has no settings, so send it alone/],
  ["SLOW, SLOW", /has "SLOW, SLOW"/],
  ["SLOW; delayMs=60001", /from 1 to 60000/],
  ["RATE_LIMITED; retryAfter=86401", /from 0 to 86400/],
  ["UNAVAILABLE; delayMs=1", /send UNAVAILABLE; retryAfter=N/],
];

describe("a fault that is wrong", () => {
  let before: Awaited<ReturnType<typeof faults>>;
  beforeEach(async () => {
    await arm({ kind: "UNAVAILABLE" });
    before = await faults();
  });

  test.each(WRONG)("%j is refused, and leaves what is armed", async (body, pointer, message) => {
    const response = await acme.sandbox("armFault", { body });

    expect(problemOf(response)).toEqual(violationAt(pointer, expect.stringMatching(message)));
    expect(await faults()).toEqual(before);
  });

  test.each(WRONG_HEADERS)("Sandbox-Fault: %s is refused, and nothing is done", async (fault, message) => {
    const body = refundOf(paymentId);

    const { status, text } = await send(body, { fault });

    const problem = problemOf({ status: Number(status), body: JSON.parse(text) });
    expect(problem).toEqual(violationAt("/headers/Sandbox-Fault", expect.stringMatching(message)));
    expect(await faults()).toEqual(before);
    await acme.sandbox("clearFaults");
    expect((await send(body)).status).toBe(201);
  });
});

/** @decision D25 */
test("production ignores the header, whatever it says, and has no call that arms a fault", async () => {
  await using production = await startProduction();
  const { url } = await production.start();
  const token = await production.issuer.token({ merchant_id: "acme" });
  const call = async (fault?: string) => {
    const headers = fault === undefined ? {} : { "Sandbox-Fault": fault };
    const { status, body } = await post<object>(url, "/v1/refunds", refundOf("pay_none"), { token, headers });
    return { status, ...body, instance: "" };
  };

  const without = await call();

  expect(without.status).toBe(404);
  for (const [, header] of table) expect(await call(header)).toEqual(without);
  expect(await call("nonsense")).toEqual(without);
  expect((await post(url, "/sandbox/faults", { kind: "SLOW" }, { token })).status).toBe(404);
});
