import { describe, expect, test } from "vitest";
import { createClient, type IssuedRefund } from "../../client/src/index.ts";
import type { SandboxSchemas } from "../../server/contract/document.ts";
import { dollars } from "../helpers/factories.ts";
import { merchantAt, sandboxOf } from "../helpers/sandbox.ts";
import { useTestServer } from "../helpers/server.ts";
import { type Fate, startLossyProxy } from "./lossy-proxy.ts";

const REFUNDS = 300;
const AT_ONCE = 16;
const SEED = "lossy proxy";
const ACME = { merchant: "acme", token: "sandbox_acme" };

const server = useTestServer();

/**
 * No real time passes between attempts, and the client does not give up: the test shows that its results are always right.
 */
function createTestClient(baseUrl: string) {
  const clock = { now: () => performance.now(), sleep: async () => {} };
  return createClient({ baseUrl, accessToken: "sandbox_acme", maxAttempts: 40, clock });
}

/** Every second attempt meets a fault. */
function chooseFate(chance: number): Fate {
  if (chance < 0.5) return "pass";
  if (chance < 0.625) return "lost-before";
  if (chance < 0.75) return "lost-after";
  return chance < 0.875 ? "cut" : "gateway-page";
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

/** @decision D09 */
describe("refunds.issue, where every second response is lost", () => {
  test(`makes each of ${REFUNDS} refunds once, and gives every one of them as its value`, async () => {
    await using proxy = await startLossyProxy(server.url, { seed: SEED, choose: chooseFate });
    const client = createTestClient(proxy.url);
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
    const { pass, ...faults } = proxy.count;
    expect(Math.min(...Object.values(faults))).toBeGreaterThan(50);
  }, 120_000);
});

describe("refunds.issue, when the response of the first attempt is lost", () => {
  const loseFirst = (fate: Fate) =>
    ({ seed: "", choose: (_: number, n: number) => (n === 1 ? fate : "pass") }) as const;

  test("gives a refund that failed as the value that it is", async () => {
    await using proxy = await startLossyProxy(server.url, loseFirst("lost-after"));

    const request = { paymentId: "pay_failed", amount: "1.00", requestKey: "lost-and-failed" };
    const refund = await createTestClient(proxy.url).refunds.issue(request);

    expect(refund).toEqual({
      paymentId: expect.stringMatching(/^rfd_/),
      paymentStatus: "TERMINAL_FAILED",
      clientReferenceId: null,
      errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: expect.any(String) },
    });
  });

  const made = { paymentId: "pay_settled", amount: "1.00", clientReferenceId: "order-1" };
  test.each([
    ["another payment", { ...made, paymentId: "pay_recent" }],
    ["another amount", { ...made, amount: "1.01" }],
    ["another reference", { ...made, clientReferenceId: "order-2" }],
    ["no reference", { paymentId: made.paymentId, amount: made.amount }],
  ])("does not take the refund of %s with the same requestKey for its own", async (what, asked) => {
    const requestKey = `taken by ${what}`;
    await createTestClient(server.url).refunds.issue({ ...made, requestKey });
    await using proxy = await startLossyProxy(server.url, loseFirst("lost-after"));

    await expect(createTestClient(proxy.url).refunds.issue({ ...asked, requestKey })).rejects.toMatchObject({
      name: "ProblemError",
      errorCode: "DUPLICATE_REQUEST_KEY",
      existing: { originalPaymentId: "pay_settled" },
      attempts: 2,
    });
  });

  test("does not take an original payment with the same requestKey for its own", async () => {
    await merchantAt(server, ACME).create({ amount: dollars(1), requestKey: "a payment's" });
    await using proxy = await startLossyProxy(server.url, loseFirst("lost-before"));

    await expect(
      createTestClient(proxy.url).refunds.issue({ ...made, requestKey: "a payment's" }),
    ).rejects.toMatchObject({ name: "ProblemError", status: 409 });
  });
});

function toRecord(record: RefundRecord) {
  const { requestKey, amount, paymentId, paymentStatus, clientReferenceId } = record;
  return { requestKey, value: amount.value, refund: { paymentId, paymentStatus, clientReferenceId } };
}

function byKey(a: { requestKey: string | null }, b: { requestKey: string | null }): number {
  return String(a.requestKey) < String(b.requestKey) ? -1 : 1;
}
