import { beforeEach, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/read-contract.ts";
import type { NewFault } from "../../../server/sandbox/features/fault-settings.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const published = readContract("openapi");

const server = useTestServer({ engine: "embedded" });
const acme = forEachTest(() => createSandboxMerchant(server));
let paymentId: string;

beforeEach(async () => {
  ({ paymentId } = await acme.create());
});

type Outcome = { status: number | string; type?: string | null; retryAfter?: string | null; text: string };

/** Issues a refund, and reads as much of the response as comes. */
async function send(body: unknown): Promise<Outcome> {
  const response = await fetch(`${server.url}/v1/refunds`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${acme.token}`,
      "Content-Type": "application/json",
      Accept: "application/json",
    },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  if (!response) return { status: "closed", text: "" };
  const { status, headers } = response;
  const text = await response.text().catch(() => "cut");
  if (text !== "cut" && status !== 502) {
    expect(published.violationsOf("issueRefund", { status, headers, body: JSON.parse(text) })).toEqual([]);
  }
  return { status, type: headers.get("content-type"), retryAfter: headers.get("retry-after"), text };
}

const arm = (body: NewFault) => acme.sandbox("armFault", { body });
const faults = async () => (await acme.sandbox("listFaults")).body.items;

/** A fault, what the caller gets, and the status that the same call gets afterwards. */
const table: [fault: NewFault, got: Partial<Outcome>, repeated: number][] = [
  [{ kind: "UNAVAILABLE", retryAfter: 7 }, { status: 503, retryAfter: "7" }, 201],
  [{ kind: "RATE_LIMITED", retryAfter: 0 }, { status: 429, retryAfter: "0" }, 201],
  [{ kind: "INTERNAL_ERROR" }, { status: 500 }, 201],
  [{ kind: "REFUNDS_HELD" }, { status: 403 }, 201],
  [{ kind: "SLOW", delayMs: 250 }, { status: 201 }, 409],
  [{ kind: "CLOSED_BEFORE" }, { status: "closed" }, 201],
  [{ kind: "CLOSED_AFTER" }, { status: "closed" }, 409],
  [{ kind: "TRUNCATED" }, { status: 201, text: "cut" }, 409],
  [{ kind: "BAD_GATEWAY" }, { status: 502, type: "text/html" }, 201],
];

describe("a fault of calls", () => {
  test.each(table)(
    "$kind is what one call gets, and what the sandbox then lists",
    async (fault, got, repeated) => {
      const body = refundOf(paymentId);
      await arm(fault);
      const startedAt = performance.now();

      const response = await send(body);

      const tookMs = performance.now() - startedAt;
      expect(response).toMatchObject(got);
      expect(tookMs).toBeGreaterThan(fault.delayMs ?? 0);
      expect((await send(body)).status).toBe(repeated);
      const status = got.status === "closed" ? null : got.status;
      const [second, first] = (await acme.sandbox("listRequests")).body.items;
      expect(first).toMatchObject({ status, fault: fault.kind, requestKey: body.requestKey });
      expect(second).toMatchObject({ status: repeated, fault: null });
      if (fault.kind === "CLOSED_AFTER") expect(first?.paymentId).toMatch(/^rfd_/);
      const hits = [{ requestId: first?.requestId, statuses: [status] }];
      expect(await faults()).toMatchObject([{ ...fault, remaining: 0, hits }]);
    },
  );

  test("happens to as many calls as it says, also when they come at once, and to no call that is refused", async () => {
    await arm({ kind: "UNAVAILABLE", times: 3 });
    await arm({ kind: "RATE_LIMITED", times: 2 });

    const refused = await send({});
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(refundOf(paymentId))));

    expect(refused.status).toBe(400);
    const statuses = responses.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 201, 201, 429, 429, 503, 503, 503]);
    const left = (await faults()).map(({ remaining, hits }) => [remaining, hits.length]);
    expect(left).toEqual([
      [0, 2],
      [0, 3],
    ]);
  });

  test("happens only to calls of its operation, with its requestKey, and of its merchant", async () => {
    const mine = refundOf(paymentId);
    const other = await createSandboxMerchant(server);
    await arm({ kind: "UNAVAILABLE", requestKey: mine.requestKey });
    await arm({ kind: "INTERNAL_ERROR", operation: "subscribeToWebhooks" });
    const target = subscriptionTo("https://merchant.example.com/");

    const responses = [
      await other.issue(refundOf((await other.create()).paymentId)),
      await send(refundOf(paymentId)),
      await send(mine),
      await post(server.url, "/v1/webhook/subscribe", target, acme),
    ];

    expect(responses.map(({ status }) => status)).toEqual([201, 201, 503, 500]);
  });
});
