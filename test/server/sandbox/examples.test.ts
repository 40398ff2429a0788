import { beforeEach, describe, expect, test } from "vitest";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";
import type { SandboxId } from "../../../server/contract/operation-types.ts";
import { type BreakingRequest, breakingRequests } from "../../conformance/constraints/requests.ts";
import { type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import { problemOf, type SandboxCall, sandboxOf, violationAt } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";

const contract = readContract("sandbox");

/** The time of the examples: the fixtures are created then, and most calls are made an hour later. */
const OPENED = "2026-11-21T09:00:00.000Z";
const CALLED = "2026-11-21T10:00:00.000Z";

const processing = { path: { paymentId: "pay_processing" } };

/** Calls whose response equals the named example exactly, and when they are made. */
const exact: [id: SandboxId, example: string, call: SandboxCall, at?: string][] = [
  ["createPayment", "processing", {}, OPENED],
  ["getPayment", "debit", { path: { paymentId: "pay_settled" } }],
  ["getPayment", "refund", { path: { paymentId: "pay_refund" } }],
  ["getPayment", "unknownPayment", { path: { paymentId: "pay_globex" } }],
  ["listPayments", "refunds", { query: { kind: "REFUND" } }],
  ["settlePayment", "now", processing],
  ["settlePayment", "earlier", processing],
  ["settlePayment", "impossibleMove", { path: { paymentId: "pay_failed" } }],
  ["advanceClock", "businessDays", {}, "2026-11-20T14:30:00.000Z"],
  ["advanceClock", "backwards", { body: { to: CALLED } }, "2026-11-25T14:30:00.000Z"],
  ["advanceClock", "negativeCount", { body: { businessDays: -3 } }],
  ["getDelivery", "unknownDelivery", { path: { webhookId: "msg_1" } }],
  ["redeliver", "notRedeliverable", { path: { webhookId: "msg_1" } }],
  ["getSubscription", "noSuchSubscription", { path: { subscriptionKey: "sub_1" } }],
  ["endSubscription", "unknownSubscription", { path: { subscriptionKey: "sub_1" } }],
  ["emitEvent", "accountLinked", {}],
  ["emitEvent", "customerCreated", {}],
  ["getClock", "nothing", {}],
  ["setInbox", "slow", {}],
  ["getInbox", "fresh", {}],
  ["setTomorrow", "off", {}],
  ["getTomorrow", "off", {}],
  ["createToken", "refundsOnly", {}],
  ["createToken", "noScopes", {}],
];

const requests = contract.operations.flatMap(({ id, requests }) =>
  requests.map(({ name, value }) => ({ id: id as SandboxId, name, body: value })),
);

describe("the examples of the sandbox's contract, on a fresh sandbox", () => {
  let now = OPENED;
  const server = useTestServer({ realNow: () => new Date(now), engine: "embedded" });
  const sandbox = sandboxOf(server);

  beforeEach(async () => {
    now = OPENED;
    await server.database.db.deleteFrom("clock").execute();
    await sandbox("resetSandbox");
    now = CALLED;
  });

  test.each(requests)("$id serves the request $name", async ({ id, body }) => {
    const target = subscriptionTo("https://merchant.example.com/");
    const { subscriptionKey } = (await post<Subscription>(server.url, "/v1/webhook/subscribe", target)).body;

    const response = await sandbox(id, { path: { ...processing.path, subscriptionKey }, body });

    expect(response.status).toBeLessThan(300);
  });

  test.each(exact)("%s responds as its example %s shows", async (id, example, call, at = CALLED) => {
    now = at;
    const body = requests.find((request) => request.id === id && request.name === example)?.body;

    const response = await sandbox(id, body === undefined ? call : { body, ...call });

    const documented = contract.operation(id).responses.find(({ name }) => name === example);
    expect(response.status).toBe(documented?.status);
    expect(masked(response.body)).toEqual(masked(documented?.value));
  });

  test("refuse every request that breaks a constraint, and change nothing", async () => {
    const reads = contract.operations.filter(({ id }) => /^(get|list)/.test(id) && !WITH_ID.test(id));
    const state = async () => {
      const responses = await Promise.all(reads.map(({ id }) => sandbox(id as SandboxId)));
      return responses.map(({ body }) => body);
    };
    await sandbox("armFault", { body: { kind: "TWICE" } });
    const before = await state();

    const options = { requestKeyPrefix: "k-" };
    const requests = breakingRequests(contract.document, findConstraints(contract.document), options);
    const wrong = [];
    for (const request of requests) {
      const found = await refusalOf(server.url, request.call);
      if (JSON.stringify(found) !== JSON.stringify(request.expected)) wrong.push([request.name, found]);
    }

    expect(wrong).toEqual([]);
    expect(await state()).toEqual(before);
  }, 60_000);

  test.each(contract.operations)("refuse a query parameter that $id does not have", async (operation) => {
    const path = { paymentId: "pay_1", webhookId: "msg_1", subscriptionKey: "sub_1" };
    const call = { path, body: operation.requests[0]?.value, query: { "sort[]": "at" } };

    const response = await sandbox(operation.id as SandboxId, call);

    expect(problemOf(response)).toEqual(violationAt("/query/sort[]", expect.any(String)));
  });
});

/** Calls that read one record. */
const WITH_ID = /Payment$|Delivery$|Subscription$/;

async function refusalOf(url: string, { method, path, token, headers, body }: BreakingRequest["call"]) {
  const bearer = { valid: "sandbox_acme", unknown: "nobody", unscoped: "nobody", absent: null }[token];
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(bearer !== null && { Authorization: `Bearer ${bearer}` }) },
    ...(body !== undefined && { body }),
  });
  const { errorDetails, violations } = await response.json();
  const pointer = violations?.map((violation: { pointer: string }) => violation.pointer).join();
  return { status: response.status, code: errorDetails?.errorCode, ...(violations && { pointer }) };
}

/** Without the values that every call generates. */
function masked(value: unknown): unknown {
  const ids = /pay_[0-9a-f-]{36}|urn:uuid:[0-9a-f-]{36}|sandbox_[\w-]{20,}|127\.0\.0\.1:\d+/g;
  return JSON.parse(JSON.stringify(value).replaceAll(ids, "…"));
}
