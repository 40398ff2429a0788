import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { realClock } from "../../../client/src/clock.ts";
import { NetworkError } from "../../../client/src/index.ts";
import { createTestClient, failureOf, made, REQUEST, SUBSCRIPTION } from "../../client/factories.ts";
import {
  hangUp,
  json,
  page,
  problem,
  REFUND,
  type Step,
  startScriptedServer,
} from "../../client/scripted-server.ts";

describe("webhooks.subscribe", () => {
  test("repeats the call after 429, which says that nothing was done", async () => {
    const subscription = { subscriptionKey: "sub_1" };
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED"), json(200, subscription));

    expect(await createTestClient(server.url).client.webhooks.subscribe(SUBSCRIPTION)).toEqual(subscription);
  });

  test.each<[string, Step]>([
    ["a connection that breaks", hangUp],
    ["503", problem(503, "UNAVAILABLE")],
    ["a balancer's 504", page(504)],
  ])("does not after %s, as that could make two", async (_, fault) => {
    await using server = await startScriptedServer(fault);

    const error = await failureOf(createTestClient(server.url).client.webhooks.subscribe(SUBSCRIPTION));

    expect(error).toMatchObject({ attempts: 1, outcomeUnknown: true });
    expect(server.bodies).toHaveLength(1);
  });
});

describe("issueRefund and subscribeToWebhooks", () => {
  test("send one request, and leave the rest to the caller", async () => {
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED"));
    const { client } = createTestClient(server.url);

    const refund = await client.issueRefund({ ...REQUEST, amount: { currency: "USD", value: 1 } });
    const subscription = await client.subscribeToWebhooks(SUBSCRIPTION);

    expect([refund.status, subscription.status]).toEqual([429, 429]);
    expect(server.bodies).toHaveLength(2);
  });
});

describe("onAttempt", () => {
  test("hears of each request", async () => {
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED"), hangUp, made);
    const { client, reports } = createTestClient(server.url);

    await client.refunds.issue(REQUEST);

    const call = { operation: "issueRefund", durationMs: 0 };
    expect(reports).toEqual([
      { ...call, attempt: 1, status: 429, requestId: "5e0f", retryInMs: 250 },
      { ...call, attempt: 2, error: expect.any(NetworkError), retryInMs: 500 },
      { ...call, attempt: 3, status: 201 },
    ]);
  });

  test("may fail without harm", async () => {
    await using server = await startScriptedServer(made);
    const onAttempt = () => {
      throw new Error("no disk for logs");
    };

    expect(await createTestClient(server.url, { onAttempt }).client.refunds.issue(REQUEST)).toEqual(REFUND);
  });
});

describe("signal", () => {
  test("of many calls gathers no listeners", async () => {
    await using server = await startScriptedServer(problem(429, "RATE_LIMITED"), made);
    const { signal } = new AbortController();

    await createTestClient(server.url).client.refunds.issue(REQUEST, { signal });

    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("ends the wait for the next attempt, also when it comes just before the wait", async () => {
    const controller = new AbortController();
    controller.abort(new Error("the caller has left"));

    await expect(realClock.sleep(60_000, controller.signal)).rejects.toThrow("the caller has left");
  });
});

test("a response that the service does not give leaves open what became of the call", async () => {
  await using server = await startScriptedServer(page(404));

  const error = await failureOf(createTestClient(server.url).client.webhooks.subscribe(SUBSCRIPTION));

  expect(error).toMatchObject({ name: "UnexpectedResponseError", attempts: 1, outcomeUnknown: true });
});

describe("accessToken", () => {
  test("may be a function, which is asked at each call", async () => {
    const seen: (string | undefined)[] = [];
    await using server = await startScriptedServer((response, request) => {
      seen.push(request.headers.authorization);
      made(response, request);
    });
    const tokens = ["first", "second"].values();
    const { client } = createTestClient(server.url, { accessToken: async () => String(tokens.next().value) });

    await client.refunds.issue(REQUEST);
    await client.refunds.issue(REQUEST);

    expect(seen).toEqual(["Bearer first", "Bearer second"]);
  });
});
