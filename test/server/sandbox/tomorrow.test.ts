import express from "express";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { type Contract, readContract, toContract } from "../../../openapi/document/contract.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { createFindViolations } from "../../../openapi/document/schemas.ts";
import type { SandboxSchemas } from "../../../server/contract/document.ts";
import { createLogger } from "../../../server/log/logger.ts";
import { createLaterApi, type LaterApi } from "../../../server/sandbox/tomorrow/later-api.ts";
import { createTomorrow } from "../../../server/sandbox/tomorrow/tomorrow.ts";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { respondWith, startReceiver } from "../../helpers/receiver.ts";
import {
  createSandboxMerchant,
  type Merchant,
  problemOf,
  sandboxOf,
  violationAt,
} from "../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer, useTestServer } from "../../helpers/server.ts";
import { LONG_AGO } from "../../helpers/store-factories.ts";

const SEED = 7;
const SUBSCRIBE = "/v1/webhook/subscribe";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** @decision D28 */
describe("tomorrow's API in a sandbox", () => {
  const server = useTestServer();
  let api: LaterApi;
  let later: Contract;
  let acme: Merchant;

  beforeAll(async () => {
    api = await createLaterApi(SEED);
    later = toContract(api.document as unknown as Node);
    acme = await createSandboxMerchant(server);
    await acme.sandbox("setTomorrow", { body: { on: true, seed: SEED } });
  });
  const named = (kind: string, pointer = "") =>
    api.additions.find((one) => one.kind === kind && one.pointer.includes(pointer))?.name ?? "";

  test("sends responses that only the later version allows, and to this merchant alone", async () => {
    const globex = await createSandboxMerchant(server);
    const code = {
      refund: named("VALUE", "RefundErrorDetails"),
      problem: named("VALUE", "ProblemErrorDetails"),
    };
    const bodies = {
      authorized: refundOf("pay_later", { requestKey: "k-1" }),
      duplicate: refundOf("pay_later", { requestKey: "k-1" }),
      failed: refundOf("pay_failing", { requestKey: "k-2" }),
      unknown: refundOf("pay_nobodys", { requestKey: "k-3" }),
      invalid: { ...refundOf("pay_later", { requestKey: "k-4" }), amount: { currency: "USD", value: 1.234 } },
    };
    const call = async ({ create, sandbox, token }: Merchant) => {
      const [settled, failing] = [await create(), await create()];
      await sandbox("failPayment", { path: { paymentId: failing.paymentId } });
      const responses = [];
      for (const body of Object.values(bodies)) {
        const paymentId = { pay_later: settled.paymentId, pay_failing: failing.paymentId }[body.paymentId];
        responses.push(
          await post<Node>(
            server.url,
            "/v1/refunds",
            { ...body, paymentId: paymentId ?? body.paymentId },
            { token },
          ),
        );
      }
      return responses;
    };

    const [tomorrows, todays] = [await call(acme), await call(globex)];

    expect(tomorrows.map(({ status }) => status)).toEqual([201, 409, 201, 404, 400]);
    expect(todays.map(({ status }) => status)).toEqual([201, 409, 201, 404, 400]);
    for (const response of tomorrows) {
      expect(later.violationsOf("issueRefund", response)).toEqual([]);
      expect(response.headers.get(named("HEADER"))).toBe("later");
    }
    for (const response of todays) expect(response.headers.get(named("HEADER"))).toBe(null);
    const codes = ({ body }: (typeof todays)[number]) => (body.errorDetails as Node | undefined)?.errorCode;
    expect(tomorrows.map(codes)).toEqual([undefined, code.problem, code.refund, code.problem, code.problem]);
    expect(todays.map(codes)).not.toContain(code.problem);
    const texts = ({ body }: (typeof todays)[number]) => String(body.detail).split(" ").toSorted();
    expect(tomorrows.map(texts)).toEqual(todays.map(texts));
    expect(tomorrows[3]?.body.detail).not.toBe(todays[3]?.body.detail);
    expect(Object.keys(tomorrows[4]?.body ?? {})).not.toEqual(Object.keys(todays[4]?.body ?? {}));
    expect(tomorrows[3]?.body.type).toBe(`urn:problem:${code.problem.toLowerCase().replaceAll("_", "-")}`);
  });

  test("accepts the request fields of the later version, which are unknown otherwise", async () => {
    const field = named("REQUEST_FIELD", "/RefundRequest");
    const globex = await createSandboxMerchant(server);
    const issue = async ({ create, issue }: Merchant) =>
      issue<never>({ ...refundOf((await create()).paymentId), [field]: "x" });

    const [tomorrow, today] = [await issue(acme), await issue(globex)];

    expect(tomorrow.status).toBe(201);
    expect(problemOf(today)).toEqual(violationAt(`/${field}`, expect.any(String)));
  });

  test("delivers signed events with more members, and lets a new event and a new status follow each", async () => {
    await using receiver = await startReceiver();
    const merchant = await playing(server);
    const { paymentId } = await merchant.create({ settledAt: LONG_AGO });
    await post(server.url, SUBSCRIBE, subscriptionTo(receiver.url, { secretKey: SECRET }), merchant);

    const refund = await merchant.issue(refundOf(paymentId));
    const deliveries = await receiver.first(3);

    const events = deliveries.map(({ event }) => event).toSorted((a, b) => a.sequence - b.sequence);
    const newEvent = named("EVENT", "/webhooks/refund.");
    const newStatus = named("VALUE", "/RefundEventData/");
    const ofData = named("MEMBER", "/RefundEventData");
    expect(events.map(({ type, sequence, data }) => [type, sequence, data.paymentStatus])).toEqual([
      ["refund.authorized", 1, "AUTHORIZED"],
      [newEvent, 2, "AUTHORIZED"],
      ["refund.authorized", 3, newStatus],
    ]);
    const findViolations = createFindViolations(api.document as unknown as Node);
    for (const { event, body, headers } of deliveries) {
      expect(event.data.paymentId).toBe(refund.body.paymentId);
      expect(Object.keys(event.data)).toContain(ofData);
      const pointer = `/webhooks/${event.type}/post/requestBody/content/application~1json/schema`;
      expect(findViolations(pointer, event)).toEqual([]);
      expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual(event);
    }
    const listed = await merchant.sandbox("listEvents", { query: { resourceId: refund.body.paymentId } });
    expect(listed.body.items.map(({ payload }) => payload).toSorted()).toEqual(
      deliveries.map(({ body }) => body).toSorted(),
    );
  });

  test("sends the same bytes with every attempt, and lets nothing follow a second time", async () => {
    await using receiver = await startReceiver(respondWith(500));
    const merchant = await playing(server);
    await post(server.url, SUBSCRIBE, subscriptionTo(receiver.url, { secretKey: SECRET }), merchant);

    await merchant.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });
    await receiver.first(2);
    await merchant.sandbox("redeliverMany", { body: {} });
    const attempts = await receiver.first(4);

    const bodies = attempts.map(({ webhookId, body }) => `${webhookId} ${body}`);
    expect(new Set(bodies).size).toBe(2);
    expect((await merchant.sandbox("listEvents")).body.items).toHaveLength(2);
  });

  test("ends with a reset, and when it is switched off", async () => {
    const merchant = await playing(server);
    const off = { on: false, seed: null, additions: [] };

    await merchant.sandbox("resetSandbox");
    const reset = await merchant.sandbox("getTomorrow");
    const [on, again] = [
      await merchant.sandbox("setTomorrow", { body: { on: true } }),
      await merchant.sandbox("getTomorrow"),
    ];
    const ended = await merchant.sandbox("setTomorrow", { body: { on: false } });

    expect([reset.body, ended.body]).toEqual([off, off]);
    expect(on.body).toEqual({ on: true, seed: expect.any(Number), additions: expect.any(Array) });
    expect(again.body).toEqual(on.body);
  });

  test("adds what the contract's example of its seed shows", async () => {
    const { responses } = readContract("sandbox").operation("getTomorrow");
    const example = responses.find(({ name }) => name === "on")?.value as SandboxSchemas["Tomorrow"];

    const { body } = await acme.sandbox("getTomorrow");

    expect(body).toEqual({ ...example, additions: expect.arrayContaining(example.additions) });
  });

  test.each([
    ["a seed that is too large", { on: true, seed: 2 ** 31 }, "/seed"],
    ["a switch in words", { on: "yes" }, "/on"],
    ["no switch", { seed: 1 }, "/on"],
  ])("refuses %s, and switches nothing on", async (_name, body, pointer) => {
    const merchant = await createSandboxMerchant(server);

    const refused = await merchant.sandbox("setTomorrow", { body });

    expect(problemOf(refused)).toEqual(violationAt(pointer, expect.any(String)));
    expect((await merchant.sandbox("getTomorrow")).body.on).toBe(false);
  });
});

/** A merchant that plays the later version of the seed 7. */
async function playing(server: TestServer): Promise<Merchant> {
  const merchant = await createSandboxMerchant(server);
  await merchant.sandbox("setTomorrow", { body: { on: true, seed: SEED } });
  return merchant;
}

test("a sandbox that is started with a seed has a merchant that plays it, also after a reset", async () => {
  await using server = await startTestServer({ env: { TOMORROW: String(SEED) } });
  const token = "sandbox_tomorrow";
  const sandbox = sandboxOf(server, token);

  await sandbox("resetSandbox");
  const issued = await post(server.url, "/v1/refunds", refundOf("pay_settled", { amount: dollars(1) }), {
    token,
  });
  const [own, acmes] = [await sandbox("getTomorrow"), await sandboxOf(server)("getTomorrow")];

  expect(issued.status).toBe(201);
  expect([own.body.seed, acmes.body.seed]).toEqual([SEED, null]);
});

test("a response that the later version does not allow becomes INTERNAL_ERROR", async () => {
  const logLines: string[] = [];
  const logger = createLogger("error", { write: (line: string) => void logLines.push(line) });
  const never = () => Promise.reject(new Error("nothing is stored here"));
  const tomorrow = createTomorrow({
    ...{ store: { emitFurtherEvent: never }, clock: { now: never }, changes: { notify() {} } },
    logger,
  });
  await tomorrow.switchOn("acme", SEED);
  const app = express();
  app.use((_request, response, next) => {
    response.locals = { requestId: "3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19", caller: { merchant: "acme" } };
    next();
  });
  app.use(tomorrow.reviseResponses);
  app.post("/v1/refunds", express.json(), (request, response) => {
    response.status(201).setHeader("Content-Type", "application/json").end(JSON.stringify(request.body));
  });
  await using local = await serveLocally(app);
  const refund = { paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null };

  const allowed = await post(local.url, "/v1/refunds", refund);
  const refused = await post<Node>(local.url, "/v1/refunds", { ...refund, paymentStatus: "LATER" });

  expect(allowed).toMatchObject({ status: 201, body: refund });
  expect(refused).toMatchObject({ status: 500, body: { errorDetails: { errorCode: "INTERNAL_ERROR" } } });
  expect(logLines.join()).toContain("/paymentStatus must be equal to one of the allowed values");
});
