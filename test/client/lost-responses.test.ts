import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createClient, type IssuedRefund } from "../../client/src/index.ts";
import type { SandboxSchemas } from "../../server/contract/document.ts";
import { dollars } from "../helpers/factories.ts";
import { merchantAt, sandboxOf } from "../helpers/sandbox.ts";
import { useTestServer } from "../helpers/server.ts";

const REFUNDS = 120;
const AT_ONCE = 16;
const SEED = "lossy network";
const ACME = { merchant: "acme", token: "sandbox_acme" };

const server = useTestServer();

/** Faults of the sandbox, and a gateway that waits for its response no longer. */
const FAULTS = ["CLOSED_BEFORE", "CLOSED_AFTER", "TRUNCATED", "GATEWAY_TIMEOUT"] as const;
type Fault = (typeof FAULTS)[number];

/**
 * A client whose attempts meet faults, by their requestKey and number alone, so that a run can be repeated whatever else happens
 * concurrently. No real time passes between attempts, and the client does not give up: its results are always right.
 */
function createLossyClient(choose: (requestKey: string, attempt: number) => Fault | undefined) {
  const attempts = new Map<string, number>();
  const met: Fault[] = [];
  const arm = (call: object) => sandboxOf(server)("armFault", call);
  const lossyFetch = async (request: Request) => {
    const { requestKey } = await request.clone().json();
    const attempt = (attempts.get(requestKey) ?? 0) + 1;
    attempts.set(requestKey, attempt);
    const fault = choose(requestKey, attempt);
    if (fault) met.push(fault);
    if (fault && fault !== "GATEWAY_TIMEOUT") await arm({ body: { kind: fault, requestKey } });
    const response = await fetch(request);
    return fault === "GATEWAY_TIMEOUT" ? new Response("<html>", { status: 504 }) : response;
  };
  const clock = { now: () => performance.now(), sleep: async () => {} };
  const access = { baseUrl: server.url, accessToken: ACME.token };
  return { client: createClient({ ...access, maxAttempts: 40, clock, fetch: lossyFetch }), met };
}

/** Every second attempt meets a fault. */
function chooseFault(requestKey: string, attempt: number): Fault | undefined {
  return FAULTS[createHash("sha256").update(`${SEED} ${requestKey} ${attempt}`).digest().readUInt32BE() % 8];
}

type RefundRecord = SandboxSchemas["RefundRecord"];
type Page = SandboxSchemas["PaymentPage"];

async function listRefunds() {
  const sandbox = sandboxOf(server);
  const records: RefundRecord[] = [];
  let query: Record<string, string> | undefined = { kind: "REFUND", limit: "100" };
  while (query) {
    const { items, nextCursor }: Page = (await sandbox("listPayments", { query })).body;
    records.push(...items.flatMap((item) => (item.kind === "REFUND" ? item : [])));
    query = nextCursor === null ? undefined : { ...query, cursor: nextCursor };
  }
  return records;
}

describe("refunds.issue, where every second response is lost", () => {
  test(`makes each of ${REFUNDS} refunds once, and resolves with it`, async () => {
    const { client, met } = createLossyClient(chooseFault);
    const { paymentId } = await merchantAt(server, ACME).create({ amount: dollars(100_000) });
    const requests = Array.from({ length: REFUNDS }, (_, index) => ({
      paymentId,
      amount: { cents: index + 1 },
      requestKey: `lossy-${index}`,
      ...(index % 2 === 0 && { clientReferenceId: `order-${index}` }),
    }));

    const before = new Set((await listRefunds()).map(({ paymentId }) => paymentId));
    const refunds = new Map<string, IssuedRefund>();
    const waiting = requests.values();
    const issueInTurn = async () => {
      for (const request of waiting) refunds.set(request.requestKey, await client.refunds.issue(request));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, issueInTurn));

    const records = (await listRefunds()).filter(({ paymentId }) => !before.has(paymentId));
    const values = requests.map(({ requestKey, amount }) => ({
      requestKey,
      value: amount.cents / 100,
      refund: refunds.get(requestKey),
    }));
    expect(records.map(toRecord).sort(byKey)).toEqual(values.sort(byKey));
    const cents = (REFUNDS * (REFUNDS + 1)) / 2;
    const left = dollars((10_000_000 - cents) / 100);
    expect(await merchantAt(server, ACME).get(paymentId)).toMatchObject({ refundableAmount: left });
    // The test proves something only if many messages were lost.
    for (const kind of FAULTS) expect(met.filter((fault) => fault === kind).length).toBeGreaterThan(15);
  });
});

describe("refunds.issue, when the response of the first attempt is lost", () => {
  const loseFirst = (fault: Fault) =>
    createLossyClient((_, attempt) => (attempt === 1 ? fault : undefined)).client;

  test("resolves with a refund that failed", async () => {
    const request = { paymentId: "pay_failed", amount: "1.00", requestKey: "lost-and-failed" };
    const refund = await loseFirst("CLOSED_AFTER").refunds.issue(request);

    expect(refund).toEqual({
      paymentId: expect.stringMatching(/^rfd_/),
      paymentStatus: "TERMINAL_FAILED",
      clientReferenceId: null,
      errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: expect.any(String) },
    });
  });

  test("does not take an original payment with the same requestKey for its own", async () => {
    await merchantAt(server, ACME).create({ amount: dollars(1), requestKey: "a payment's" });

    const request = { paymentId: "pay_settled", amount: "1.00", requestKey: "a payment's" };
    await expect(loseFirst("CLOSED_BEFORE").refunds.issue(request)).rejects.toMatchObject({
      name: "ProblemError",
      status: 409,
      attempts: 2,
    });
  });
});

function toRecord(record: RefundRecord) {
  const { requestKey, amount, paymentId, paymentStatus, clientReferenceId } = record;
  return { requestKey, value: amount.value, refund: { paymentId, paymentStatus, clientReferenceId } };
}

function byKey(a: { requestKey: string | null }, b: { requestKey: string | null }): number {
  return String(a.requestKey) < String(b.requestKey) ? -1 : 1;
}
