import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import type { SandboxId } from "../../server/http/operations.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { type Sandbox, type SandboxCall, sandboxOf } from "./call.ts";

const contract = readContract("sandbox");

/** When the examples take place: the fixtures are made, and most calls come an hour later. */
const OPENED = "2026-11-21T09:00:00.000Z";
const CALLED = "2026-11-21T10:00:00.000Z";

const processing = { path: { paymentId: "pay_processing" } };

/** Where an answer is the named example to the letter: what is called, and when. */
const answered: [id: SandboxId, example: string, call: SandboxCall, at?: string][] = [
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
  ["redeliver", "unknownDelivery", { path: { webhookId: "msg_1" } }],
  ["endSubscription", "unknownSubscription", { path: { subscriptionKey: "sub_1" } }],
  ["emitEvent", "accountLinked", {}],
  ["emitEvent", "customerCreated", {}],
  ["createToken", "refundsOnly", {}],
  ["createToken", "noScopes", {}],
];

const requests = contract.operations.flatMap(({ id, requests }) =>
  requests.map(({ name, value }) => ({ id: id as SandboxId, name, body: value })),
);

describe("the examples of the sandbox's contract, on a fresh sandbox", () => {
  let server: TestServer;
  let sandbox: Sandbox;
  let now: string;

  beforeAll(async () => {
    now = OPENED;
    server = await startTestServer({ realNow: () => new Date(now) });
    sandbox = sandboxOf(server);
    return () => server.close();
  });
  beforeEach(async () => {
    now = OPENED;
    await server.database.db.deleteFrom("clock").execute();
    await sandbox("resetSandbox");
    now = CALLED;
  });

  test.each(requests)("$id serves the request $name", async ({ id, body }) => {
    const answer = await sandbox(id, { ...processing, body });

    expect(answer.status).toBeLessThan(300);
  });

  test.each(answered)("%s answers as its example %s says", async (id, example, call, at = CALLED) => {
    now = at;
    const body = requests.find((request) => request.id === id && request.name === example)?.body;

    const answer = await sandbox(id, body === undefined ? call : { body, ...call });

    const documented = contract.operation(id).responses.find(({ name }) => name === example);
    expect(answer.status).toBe(documented?.status);
    expect(masked(answer.body)).toEqual(masked(documented?.value));
  });
});

/** Without what is made anew by every call. */
function masked(value: unknown): unknown {
  const ids = /pay_[0-9a-f-]{36}|urn:uuid:[0-9a-f-]{36}|sandbox_[\w-]{20,}/g;
  return JSON.parse(JSON.stringify(value).replaceAll(ids, "…"));
}
