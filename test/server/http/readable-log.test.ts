import { expect, test } from "vitest";
import { toReadableLine } from "../../../server/observability/readable-log.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { post, spawnServer } from "../../helpers/server.ts";

const line = (entry: object) => toReadableLine(JSON.stringify({ level: 30, time: 0, ...entry })).slice(9);

const call = (fields: object) => ({ msg: "request", method: "GET", milliseconds: 1, ...fields });
const refund = { method: "POST", path: "/v1/refunds", milliseconds: 3 };
const ids = {
  requestId: "3f0c8d5e",
  callerRequestId: "checkout/42",
  trace_id: "4bf92f35",
  span_id: "00f067aa",
};
const attempt = { msg: "delivery", event: "refund.pending", host: "127.0.0.1:4", outcome: "retry" };

test.each([
  [
    call({ ...refund, status: 409, errorCode: "DUPLICATE_REQUEST_KEY" }),
    "POST /v1/refunds 409 DUPLICATE_REQUEST_KEY 3 ms\n",
  ],
  [
    call({ ...refund, status: 404, ...ids }),
    "POST /v1/refunds 404 3 ms request 3f0c8d5e x-request-id checkout/42 trace 4bf92f35\n",
  ],
  [call({ ...refund, status: 201, requestId: "3f0c8d5e" }), "POST /v1/refunds 201 3 ms\n"],
  [
    { msg: "transition", paymentId: "rfd_1", paymentStatus: "AUTHORIZED", trace_id: "4bf92f35" },
    "refund rfd_1 is now AUTHORIZED trace 4bf92f35\n",
  ],
  [call({ route: "unknown", status: 404, errorCode: "NOT_FOUND" }), "GET unknown 404 NOT_FOUND 1 ms\n"],
  [call({ path: "/sandbox/clock", route: "/sandbox/clock", status: 200 }), "GET /sandbox/clock 200 1 ms\n"],
  [call({ route: "/sandbox/clock", fromPage: true, status: 200 }), ""],
  [call({ route: "/console", status: 200 }), ""],
  [call({ route: "/readyz", status: 503 }), "GET /readyz 503 1 ms\n"],
  [
    { msg: "subscription", subscriptionKey: "sub_1", secretForm: "BASE64", merchant: "acme" },
    "subscription sub_1 signs by its secretKey: the bytes that its base64 stands for acme\n",
  ],
  [
    { ...attempt, status: null, error: "refused", milliseconds: 2, trace_id: "4bf92f35" },
    "webhook refund.pending to 127.0.0.1:4 refused retry 2 ms trace 4bf92f35\n",
  ],
  [
    { level: 50, msg: "can't dispatch webhooks", err: { message: "no database" } },
    "error: can't dispatch webhooks (no database)\n",
  ],
  [{ level: 40, msg: "public tokens" }, "warning: public tokens\n"],
])("a line of the log is readable: %j", (entry, readable) => {
  expect(line(entry)).toBe(readable);
});

async function refundLater(url: string, target: string) {
  await post(url, "/v1/webhook/subscribe", subscriptionTo(target));
  const { body } = await post<{ paymentId: string }>(url, "/v1/refunds", refundOf("pay_recent"));
  await post(url, "/sandbox/clock/advance", { by: "P30D" });
  return body.paymentId;
}

/** The output of a sandbox after its welcome, once it has stopped. */
async function printedUntilStop(server: ServerProcess): Promise<string[]> {
  server.kill("SIGTERM");
  const { stdout } = await server.exit;
  return stdout.slice(server.welcome.length).split("\n").filter(Boolean);
}

test("a sandbox prints a line for each call, transition and delivery", async () => {
  await using receiver = await startReceiver();
  await using server = await spawnServer();

  const refund = await refundLater(server.url, receiver.url);

  await receiver.first(2);
  const printed = await printedUntilStop(server);
  const texts = printed.map((text) => text.replace(/^\d\d:\d\d:\d\d /, "").replace(/ \d+ ms$/, ""));
  const { host } = new URL(receiver.url);
  expect(texts.map((text) => text.replace(/sub_\S+/, "sub_1")).toSorted()).toEqual(
    [
      "POST /v1/webhook/subscribe 200 acme",
      "subscription sub_1 signs by its secretKey: its text acme",
      `POST /v1/refunds 201 PENDING ${refund} acme`,
      "POST /sandbox/clock/advance 200 acme",
      `refund ${refund} is now AUTHORIZED acme`,
      `webhook refund.pending to ${host} 204 delivered acme`,
      `webhook refund.authorized to ${host} 204 delivered acme`,
      "Stopping (SIGTERM).",
      "Stopped.",
    ].toSorted(),
  );
});
