import { describe, expect, test } from "vitest";
import { realClock } from "../../../client/src/clock.ts";
import { CallError, createClient, NetworkError, TimeoutError } from "../../../client/src/index.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { createTestClient, failureOf, made, REQUEST, SUBSCRIPTION } from "../../client/factories.ts";
import {
  duplicate,
  hangUp,
  json,
  page,
  problem,
  REFUND,
  type Step,
  stall,
  startScriptedServer,
  staySilent,
} from "../../client/scripted-server.ts";

const tooMany = problem(429, "RATE_LIMITED");
const THIN = { ...REQUEST, amount: { currency: "USD", value: 1 } } as const;
/** Takes longer than a timer that ends at once. */
const slowly = (request: Request) =>
  new Promise<Response>((resolve, reject) => setTimeout(() => fetch(request).then(resolve, reject), 20));
const unlimited = { attemptTimeoutMs: 60_000, accessToken: "t" };

describe("after a first response", () => {
  const documented = readContract("openapi").operations.flatMap(({ id, retries }) =>
    retries.map((retry) => ({ id, ...retry })),
  );
  test.each<[what: string, attempts: number, isUnknown: boolean, step: Step]>([
    ...documented
      .filter(({ status = 500 }) => status >= 400)
      .map(({ id, status, repeat, when, outcome }): [string, number, boolean, Step] => [
        `${status ?? "no response"}, as the contract says of ${id}`,
        repeat === "same" && when !== "cause-gone" ? 2 : 1,
        outcome === "unknown",
        status === undefined ? hangUp : problem(status, "A_CODE"),
      ]),
    ["a balancer's 502", 2, true, page(502)],
    ["a balancer's 504", 2, true, page(504)],
    ["a page that is no gateway's", 1, true, page(404)],
  ])("(%s) a refund and a subscription take %i attempts", async (_, attempts, isUnknown, step) => {
    const subscription = { subscriptionKey: "sub_1" };
    await using refunds = await startScriptedServer(step, made);
    await using subscriptions = await startScriptedServer(step, json(200, subscription));
    const { client, waits } = createTestClient(refunds.url);
    const { webhooks } = createTestClient(subscriptions.url).client;

    const issued = await client.refunds.issue(REQUEST).catch((error: unknown) => error);
    const subscribed = await webhooks.subscribe(SUBSCRIPTION).catch((error: unknown) => error);

    const sent = '{"paymentId":"pay_1","amount":{"currency":"USD","value":1},"requestKey":"key-1"}';
    expect(refunds.bodies).toEqual(Array(attempts).fill(sent));
    expect(waits).toEqual(Array(attempts - 1).fill(250));
    expect(issued).toEqual(attempts === 2 ? REFUND : expect.any(CallError));
    expect(subscriptions.bodies).toHaveLength(attempts);
    const failure = { attempts: 1, outcomeUnknown: isUnknown };
    expect(subscribed).toMatchObject(attempts === 2 ? subscription : failure);
  });

  test.each<[string, Step]>([
    ["says nothing", staySilent],
    ["does not end its response", stall],
  ])(
    "of a service that %s, a refund is repeated when an attempt has taken as long as it may",
    async (_, silence) => {
      await using server = await startScriptedServer(silence, made);
      const { client } = createTestClient(server.url, { attemptTimeoutMs: 1_000 });

      expect(await client.refunds.issue(REQUEST)).toEqual(REFUND);
      expect(server.bodies).toHaveLength(2);
    },
  );
});

describe("the time between attempts", () => {
  test("doubles its limit up to 8 seconds", async () => {
    await using server = await startScriptedServer(tooMany);
    const { client, waits } = createTestClient(server.url, { maxAttempts: 8 });

    await failureOf(client.refunds.issue(REQUEST));

    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  const DATE = "Wed, 25 Nov 2026 05:00:00 GMT";
  test.each<[string, Record<string, string>, number]>([
    ["seconds", { "Retry-After": "7" }, 7_000],
    ["a date by the service's clock", { "Retry-After": "Wed, 25 Nov 2026 05:00:09 GMT", Date: DATE }, 9_000],
    ["a date that is over", { "Retry-After": "Wed, 25 Nov 2026 04:00:00 GMT", Date: DATE }, 0],
    ["nothing that can be read", { "Retry-After": "-5" }, 0],
    ["a number with a unit", { "Retry-After": "7s" }, 0],
  ])("is longer by a Retry-After in %s", async (_, headers, more) => {
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED", headers), made);
    const { client, waits } = createTestClient(server.url);

    await client.refunds.issue(REQUEST);

    expect(waits).toEqual([more + 250]);
  });

  test("is not waited for when it is longer than what is left", async () => {
    await using server = await startScriptedServer(problem(503, "UNAVAILABLE", { "Retry-After": "60" }));
    const { client, waits } = createTestClient(server.url);

    expect(await failureOf(client.refunds.issue(REQUEST))).toMatchObject({ status: 503, attempts: 1 });
    expect(waits).toEqual([]);
  });
});

describe("a call ends", () => {
  test.each([
    ["as many attempts as the client makes", {}, {}, 4],
    ["as many as an option of the client says", { maxAttempts: 2 }, {}, 2],
    ["as many as an option of the call says", {}, { maxAttempts: 3 }, 3],
  ])("after %s, and says that the refund may exist", async (_, ofClient, ofCall, attempts) => {
    await using server = await startScriptedServer(hangUp);
    const { client } = createTestClient(server.url, ofClient);

    const error = await failureOf(client.refunds.issue(REQUEST, ofCall));

    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ attempts, outcomeUnknown: true });
    expect(server.bodies).toHaveLength(attempts);
  });

  test.each([
    [400, "INVALID_REQUEST", false],
    [401, "UNAUTHORIZED", true],
    [404, "PAYMENT_NOT_FOUND", false],
    [409, "DUPLICATE_REQUEST_KEY", false],
  ])(
    "with %i %s after a lost response, and the refund may exist: %s",
    async (status, errorCode, outcomeUnknown) => {
      await using server = await startScriptedServer(hangUp, problem(status, errorCode));

      const error = await failureOf(createTestClient(server.url).client.refunds.issue(REQUEST));

      expect(error).toMatchObject({ name: "ProblemError", status, errorCode, attempts: 2, outcomeUnknown });
    },
  );

  const ORDER = { ...REQUEST, clientReferenceId: "order-1" };
  test("with the refund that a 409 after a lost response names, if it is this one", async () => {
    await using server = await startScriptedServer(hangUp, duplicate("order-1", 1));

    const refund = await createTestClient(server.url).client.refunds.issue(ORDER);

    expect(refund).toEqual({ ...REFUND, clientReferenceId: "order-1" });
    expect(server.bodies).toHaveLength(2);
  });

  test.each<[what: string, existing: Step, repeated: boolean, unknown: boolean, asked?: typeof REQUEST]>([
    ["equal, as when a gateway sent the request twice", duplicate("order-1", 1), false, true],
    ["equal, but its reference was erased", duplicate(null, 1), true, true],
    ["of another reference", duplicate("order-2", 1), true, false],
    ["of another amount", duplicate("order-1", 2), true, false],
    ["of another payment", duplicate("order-1", 1, "pay_2"), true, false],
    ["of a reference, and none was sent", duplicate("order-1", 1), true, false, REQUEST],
  ])(
    "with a 409 whose refund is %s, and says whether it may be this one",
    async (_, step, repeated, outcomeUnknown, asked = ORDER) => {
      await using server = await startScriptedServer(step);

      const error = await failureOf(createTestClient(server.url).client.refunds.issue(asked, { repeated }));

      expect(error).toMatchObject({ name: "ProblemError", status: 409, attempts: 1, outcomeUnknown });
    },
  );

  test("before anything is sent when a limit is not a number", async () => {
    await using server = await startScriptedServer(made);
    const { client } = createTestClient(server.url, { maxAttempts: Number.NaN });

    await expect(client.refunds.issue(REQUEST)).rejects.toThrow(new RangeError("maxAttempts: NaN"));
    expect(server.bodies).toEqual([]);
  });

  test("never by itself when there are no limits", async () => {
    await using server = await startScriptedServer(made);
    const limits = { attemptTimeoutMs: Number.POSITIVE_INFINITY, totalTimeoutMs: Number.POSITIVE_INFINITY };
    const client = createClient({ baseUrl: server.url, accessToken: "t", ...limits, fetch: slowly });

    expect(await client.refunds.issue(REQUEST)).toEqual(REFUND);
    expect(server.bodies).toHaveLength(1);
  });

  test("when its time in all is over", async () => {
    await using server = await startScriptedServer(staySilent);
    const client = createClient({ ...unlimited, baseUrl: server.url });

    const error = await failureOf(client.refunds.issue(REQUEST, { totalTimeoutMs: 100 }));

    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ attempts: 1, outcomeUnknown: true });
  });

  test("in time, although a custom fetch ignores the signal", async () => {
    const forever = () => new Promise<Response>(() => {});
    const { client } = createTestClient("http://127.0.0.1:9", { fetch: forever, attemptTimeoutMs: 20 });

    expect(await failureOf(client.issueRefund(THIN))).toMatchObject({ name: "TimeoutError", timeoutMs: 20 });
  });

  test.each<[when: string, step: (abort: () => void) => Step, onAttempt: (abort: () => void) => () => void]>([
    ["the response", (abort) => abort, () => () => {}],
    [
      "the next attempt",
      () => problem(429, "RATE_LIMITED", { "Retry-After": "30" }),
      (abort) => () => void setImmediate(abort),
    ],
  ])("when it is aborted while it waits for %s, with the reason", async (_, step, onAttempt) => {
    const controller = new AbortController();
    const abort = () => controller.abort("enough");
    await using server = await startScriptedServer(step(abort));
    const client = createClient({ ...unlimited, baseUrl: server.url, onAttempt: onAttempt(abort) });

    await expect(client.refunds.issue(REQUEST, { signal: controller.signal })).rejects.toBe("enough");
    expect(server.bodies).toHaveLength(1);
    await expect(client.refunds.issue(REQUEST, { signal: controller.signal })).rejects.toBe("enough");
    await expect(realClock.sleep(60_000, controller.signal)).rejects.toBe("enough");
    expect(server.bodies).toHaveLength(1);
  });
});

test("onAttempt is called after each request, and its errors are ignored", async () => {
  await using server = await startScriptedServer(tooMany, hangUp, made);
  const { client, reports } = createTestClient(server.url);

  await client.refunds.issue(REQUEST);

  const call = { operation: "issueRefund", durationMs: 0 };
  expect(reports).toEqual([
    { ...call, attempt: 1, status: 429, requestId: "5e0f", retryInMs: 250 },
    { ...call, attempt: 2, error: expect.any(NetworkError), retryInMs: 500 },
    { ...call, attempt: 3, status: 201 },
  ]);
  const lost = new Error("no disk for logs");
  const throwing = () => {
    throw lost;
  };
  for (const onAttempt of [throwing, () => Promise.reject(lost)]) {
    expect(await createTestClient(server.url, { onAttempt }).client.refunds.issue(REQUEST)).toEqual(REFUND);
  }
});
