import { describe, expect, test } from "vitest";
import { createClient, type IssuedRefund, ProblemError } from "../../client/src/index.ts";
import { post, useTestServer } from "../helpers/server.ts";
import { type Fate, startLossyProxy } from "./lossy-proxy.ts";

const REFUNDS = 300;
const AT_ONCE = 16;
const SEED = "lossy proxy";

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

async function createPayment(value: number): Promise<string> {
  const amount = { currency: "USD", value };
  const { body } = await post<{ paymentId: string }>(server.url, "/sandbox/payments", { amount });
  return body.paymentId;
}

type RefundRecord = {
  paymentId: string;
  paymentStatus: string;
  requestKey: string;
  clientReferenceId: string | null;
  amount: { value: number };
};

async function get<Body>(path: string): Promise<Body> {
  const headers = { Authorization: "Bearer sandbox_acme", Accept: "application/json" };
  return (await (await fetch(server.url + path, { headers })).json()) as Body;
}

async function listRefunds(): Promise<RefundRecord[]> {
  const records: RefundRecord[] = [];
  let cursor: string | null | undefined;
  do {
    const page = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const body = await get<{ items: RefundRecord[]; nextCursor: string | null }>(
      `/sandbox/payments?kind=REFUND&limit=100${page}`,
    );
    records.push(...body.items);
    cursor = body.nextCursor;
  } while (cursor);
  return records;
}

describe("refunds.issue, where every second response is lost", () => {
  test(`makes each of ${REFUNDS} refunds once, and gives every one of them as its value`, async () => {
    await using proxy = await startLossyProxy(server.url, { seed: SEED, choose: chooseFate });
    const client = createTestClient(proxy.url);
    const paymentId = await createPayment(100_000);
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
    const payment = await get<{ refundableAmount: { value: number } }>(`/sandbox/payments/${paymentId}`);
    expect(payment.refundableAmount.value).toBe((10_000_000 - cents) / 100);
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

    const refund = await createTestClient(proxy.url).refunds.issue({
      paymentId: "pay_failed",
      amount: "1.00",
      requestKey: "lost-and-failed",
    });

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

    const error = await createTestClient(proxy.url)
      .refunds.issue({ ...asked, requestKey })
      .catch((thrown: unknown) => thrown);

    if (!(error instanceof ProblemError)) throw new Error(`gave ${JSON.stringify(error)}`);
    expect(error.errorCode).toBe("DUPLICATE_REQUEST_KEY");
    expect(error.existing?.originalPaymentId).toBe("pay_settled");
    expect(error.attempts).toBe(2);
  });

  test("does not take an original payment with the same requestKey for its own", async () => {
    const amount = { currency: "USD", value: 1 };
    await post(server.url, "/sandbox/payments", { amount, requestKey: "a payment's" });
    await using proxy = await startLossyProxy(server.url, loseFirst("lost-before"));

    await expect(
      createTestClient(proxy.url).refunds.issue({ ...made, requestKey: "a payment's" }),
    ).rejects.toMatchObject({ name: "ProblemError", status: 409 });
  });
});

function toRecord({ requestKey, amount, paymentId, paymentStatus, clientReferenceId }: RefundRecord) {
  return { requestKey, value: amount.value, refund: { paymentId, paymentStatus, clientReferenceId } };
}

function byKey(a: { requestKey: string }, b: { requestKey: string }): number {
  return a.requestKey < b.requestKey ? -1 : 1;
}
