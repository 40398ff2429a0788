import { describe, expect, test } from "vitest";
import {
  CallError,
  createClient,
  type IssueRefundRequest,
  newRequestKey,
  ProblemError,
} from "../../client/src/index.ts";
import { useTestServer } from "../helpers/server.ts";

const server = useTestServer();

const createTestClient = (accessToken = "sandbox_acme") => createClient({ baseUrl: server.url, accessToken });

const refundOf = (paymentId: string, fields: Partial<IssueRefundRequest> = {}): IssueRefundRequest => ({
  paymentId,
  amount: "1.50",
  requestKey: newRequestKey(),
  ...fields,
});

/** The problem with which a call failed. */
async function problemOf(call: Promise<unknown>): Promise<ProblemError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof ProblemError) return error;
  throw new Error(`gave ${error}`);
}

describe("refunds.issue", () => {
  test("with a requestKey that was used throws a problem with the record that has it", async () => {
    const request = refundOf("pay_settled");
    const refund = await createTestClient().refunds.issue(request);

    const error = await problemOf(createTestClient().refunds.issue(request));

    expect(error).toMatchObject({ status: 409, errorCode: "DUPLICATE_REQUEST_KEY", outcomeUnknown: false });
    expect(error.existing).toEqual({
      ...refund,
      originalPaymentId: "pay_settled",
      amount: { currency: "USD", value: 1.5 },
    });
  });

  test("after an earlier run that may have made the refund gives that refund", async () => {
    const request = refundOf("pay_settled", { clientRefefenceId: "order-7" });
    const refund = await createTestClient().refunds.issue(request);

    expect(await createTestClient().refunds.issue(request, { repeated: true })).toEqual(refund);
    const other = { ...request, amount: "1.51" };
    await problemOf(createTestClient().refunds.issue(other, { repeated: true }));
  });

  test("that is malformed throws a problem with every violation, and its message lists them", async () => {
    const request = refundOf("", { softDescriptor: "!" });

    const error = await problemOf(createTestClient().refunds.issue(request));

    expect(error).toBeInstanceOf(CallError);
    expect(error.name).toBe("ProblemError");
    expect(error.violations.map(({ pointer }) => pointer)).toEqual(["/paymentId", "/softDescriptor"]);
    expect(error.message).toMatch(/^INVALID_REQUEST: .+\n\/paymentId: .+\n\/softDescriptor: .+$/);
  });

  test("of an unknown payment throws a problem with the id that the service logged", async () => {
    const error = await problemOf(createTestClient().refunds.issue(refundOf("pay_globex")));

    expect(error).toMatchObject({
      status: 404,
      errorCode: "PAYMENT_NOT_FOUND",
      violations: [],
      existing: undefined,
    });
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(server.logLines.join("")).toContain(`"requestId":"${error.requestId}"`);
  });

  test("of an amount that can't be sent exactly sends nothing", async () => {
    const sent: unknown[] = [];
    const onAttempt = (report: unknown) => void sent.push(report);
    const client = createClient({ baseUrl: server.url, accessToken: "sandbox_acme", onAttempt });

    await expect(client.refunds.issue(refundOf("pay_settled", { amount: 10.005 }))).rejects.toMatchObject({
      name: "InvalidAmountError",
      field: "amount",
    });
    expect(sent).toEqual([]);
  });
});

describe("webhooks.subscribe", () => {
  const target = { url: "https://merchant.example.com/webhooks", secretKey: "s".repeat(32) };

  test("throws a problem with the violations", async () => {
    const call = createTestClient().webhooks.subscribe({
      ...target,
      secretKey: "",
      subscriptionDetails: { type: "ALL" },
    });

    expect((await problemOf(call)).violations.map(({ pointer }) => pointer)).toEqual(["/secretKey"]);
  });
});

test("newRequestKey gives another key each time, of a length that the contract takes", () => {
  const keys = Array.from({ length: 100 }, newRequestKey);

  expect(new Set(keys).size).toBe(100);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
});
