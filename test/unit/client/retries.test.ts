import { describe, expect, test } from "vitest";
import { createClient, NetworkError, ProblemError, TimeoutError } from "../../../client/src/index.ts";
import { createTestClient, failureOf, made, REQUEST } from "../../client/factories.ts";
import {
  hangUp,
  page,
  problem,
  REFUND,
  type Step,
  stall,
  startScriptedServer,
  staySilent,
} from "../../client/scripted-server.ts";

describe("refunds.issue repeats the same call", () => {
  test.each<[string, Step]>([
    ["a connection that breaks", hangUp],
    ["429", problem(429, "RATE_LIMITED")],
    ["503", problem(503, "UNAVAILABLE")],
    ["a balancer's 502", page(502)],
    ["a balancer's 503", page(503)],
    ["a balancer's 504", page(504)],
  ])("after %s", async (_, fault) => {
    await using server = await startScriptedServer(fault, made);
    const { client, waits } = createTestClient(server.url);

    expect(await client.refunds.issue(REQUEST)).toEqual(REFUND);
    const sent = '{"paymentId":"pay_1","amount":{"currency":"USD","value":1},"requestKey":"key-1"}';
    expect(server.bodies).toEqual([sent, sent]);
    expect(waits).toEqual([250]);
  });

  test.each<[string, Step]>([
    ["says nothing", staySilent],
    ["does not end its response", stall],
  ])("when a service that %s takes longer than an attempt may", async (_, silence) => {
    await using server = await startScriptedServer(silence, made);
    const { client } = createTestClient(server.url, { attemptTimeoutMs: 1_000 });

    expect(await client.refunds.issue(REQUEST)).toEqual(REFUND);
    expect(server.bodies).toHaveLength(2);
  });

  test.each<[string, Step, string]>([
    ["400", problem(400, "INVALID_REQUEST"), "ProblemError"],
    ["401", problem(401, "UNAUTHORIZED"), "ProblemError"],
    ["404", problem(404, "PAYMENT_NOT_FOUND"), "ProblemError"],
    ["409", problem(409, "DUPLICATE_REQUEST_KEY"), "ProblemError"],
    ["500", problem(500, "INTERNAL_ERROR"), "ProblemError"],
    ["a page that is no gateway's", page(404), "UnexpectedResponseError"],
  ])("but not after %s", async (_, turn, name) => {
    await using server = await startScriptedServer(turn, made);

    expect(await failureOf(createTestClient(server.url).client.refunds.issue(REQUEST))).toMatchObject({
      name,
    });
    expect(server.bodies).toHaveLength(1);
  });
});

describe("the time between attempts", () => {
  test("doubles its limit up to 8 seconds", async () => {
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED"));
    const { client, waits } = createTestClient(server.url, { maxAttempts: 8 });

    await failureOf(client.refunds.issue(REQUEST));

    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  const DATE = "Wed, 25 Nov 2026 05:00:00 GMT";
  test.each<[string, Record<string, string>, number]>([
    ["seconds", { "Retry-After": "7" }, 7_000],
    [
      "a date, by the clock of the service",
      { "Retry-After": "Wed, 25 Nov 2026 05:00:09 GMT", Date: DATE },
      9_000,
    ],
    ["a date that is over", { "Retry-After": "Wed, 25 Nov 2026 04:00:00 GMT", Date: DATE }, 0],
    ["nothing that can be read", { "Retry-After": "soon" }, 0],
    ["less than nothing", { "Retry-After": "-5" }, 0],
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
  test("after four attempts, with the last one's fault, and says that the refund may exist", async () => {
    await using server = await startScriptedServer(
      hangUp,
      hangUp,
      hangUp,
      problem(429, "RATE_LIMITED"),
      made,
    );

    const error = await failureOf(createTestClient(server.url).client.refunds.issue(REQUEST));

    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ errorCode: "RATE_LIMITED", attempts: 4, outcomeUnknown: true });
  });

  test.each([
    [400, "INVALID_REQUEST", false],
    [401, "UNAUTHORIZED", true],
    [404, "PAYMENT_NOT_FOUND", false],
    [409, "DUPLICATE_REQUEST_KEY", false],
    [500, "INTERNAL_ERROR", true],
  ])(
    "with %i after a lost response, and says whether the refund may exist",
    async (status, errorCode, unknown) => {
      await using server = await startScriptedServer(hangUp, problem(status, errorCode));

      const error = await failureOf(createTestClient(server.url).client.refunds.issue(REQUEST));

      expect(error).toMatchObject({ status, errorCode, attempts: 2, outcomeUnknown: unknown });
    },
  );

  test.each([
    ["of the client", { maxAttempts: 2 }, {}],
    ["of the call", {}, { maxAttempts: 2 }],
  ])("after as many attempts as an option %s says", async (_, ofClient, ofCall) => {
    await using server = await startScriptedServer(hangUp);
    const { client } = createTestClient(server.url, ofClient);

    const error = await failureOf(client.refunds.issue(REQUEST, ofCall));

    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ attempts: 2, outcomeUnknown: true });
    expect(server.bodies).toHaveLength(2);
  });

  test("when its time in all is over", async () => {
    await using server = await startScriptedServer(staySilent);
    const client = createClient({ baseUrl: server.url, accessToken: "t", attemptTimeoutMs: 60_000 });

    const error = await failureOf(client.refunds.issue(REQUEST, { totalTimeoutMs: 100 }));

    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ attempts: 1, outcomeUnknown: true });
  });

  test("in time, though a fetch of one's own does not look at the signal", async () => {
    const forever = () => new Promise<Response>(() => {});
    const { client } = createTestClient("http://127.0.0.1:9", { fetch: forever, attemptTimeoutMs: 20 });

    expect(
      await failureOf(client.issueRefund({ ...REQUEST, amount: { currency: "USD", value: 1 } })),
    ).toMatchObject({
      name: "TimeoutError",
      timeoutMs: 20,
    });
  });

  test("when it is aborted while it waits for the response, with the reason", async () => {
    const controller = new AbortController();
    await using server = await startScriptedServer(() => controller.abort("enough"));

    const call = createTestClient(server.url).client.refunds.issue(REQUEST, { signal: controller.signal });

    await expect(call).rejects.toBe("enough");
    expect(server.bodies).toHaveLength(1);
  });

  test("when it is aborted while it waits for the next attempt, with the reason", async () => {
    const controller = new AbortController();
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED", { "Retry-After": "30" }));
    const onAttempt = () => void setImmediate(() => controller.abort("enough"));
    const client = createClient({ baseUrl: server.url, accessToken: "t", onAttempt });

    await expect(client.refunds.issue(REQUEST, { signal: controller.signal })).rejects.toBe("enough");
    expect(server.bodies).toHaveLength(1);
  });

  test("before it begins when it was aborted before", async () => {
    await using server = await startScriptedServer(made);

    const call = createTestClient(server.url).client.refunds.issue(REQUEST, {
      signal: AbortSignal.abort("never"),
    });

    await expect(call).rejects.toBe("never");
    expect(server.bodies).toEqual([]);
  });
});
