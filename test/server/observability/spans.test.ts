import { expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/databases.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { SANDBOX, startServerProcess } from "../../helpers/process.ts";
import { type Receiver, startReceiver, until } from "../../helpers/receiver.ts";
import { merchantAt } from "../../helpers/sandbox.ts";
import { post } from "../../helpers/server.ts";

type Value = { readonly stringValue?: string; readonly intValue?: number };
type Ids = { readonly traceId: string; readonly spanId: string };
type Exported = Ids & {
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
  readonly links?: readonly Ids[];
};
type Request = {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[];
  }[];
};

/** The spans that a collector has received by OTLP over HTTP, as JSON. */
function spansOf({ received }: Receiver): Exported[] {
  return received.flatMap(({ target, event }) => {
    expect(target).toBe("/hooks/v1/traces");
    const { resourceSpans } = event as unknown as Request;
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  });
}

const attributesOf = ({ attributes }: Exported) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
const idsOf = ({ traceId, spanId }: Ids) => ({ traceId, spanId });

const CALLER = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

test("with the SDK of the guide, a refund is one trace from its call to its last webhook", async () => {
  await using collector = await startReceiver((response) => {
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  await using receiver = await startReceiver();
  await using database = await createTestDatabase("postgres");
  const [node = "", ...options] = SANDBOX;
  await using server = await startServerProcess({
    command: [node, "--import", "./docs/operators/tracing.mjs", ...options],
    env: {
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      LOG_FORMAT: "json",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
  });
  const acme = merchantAt(server, { merchant: "acme", token: "sandbox_acme" });
  await post(
    server.url,
    "/v1/webhook/subscribe",
    subscriptionTo(receiver.url, {
      subscriptionDetails: { type: "EVENT", details: ["refund.pending", "refund.authorized"] },
    }),
  );
  const payment = await acme.create({ settledAt: (await acme.sandbox("getClock")).body.now });

  const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`, tracestate: "vendor=1" };
  const refund = await post<{ paymentId: string }>(server.url, "/v1/refunds", refundOf(payment.paymentId), {
    headers,
  });
  await receiver.first(1);
  await acme.sandbox("advanceClock", { body: { by: "P30D" } });
  const received = await receiver.first(2);
  const find = (name: string, isIt: (span: Exported) => boolean = () => true) =>
    until(() => spansOf(collector).find((span) => span.name === name && isIt(span)));

  const call = await find("POST /v1/refunds");
  expect({ ...call, ...attributesOf(call) }).toMatchObject({
    kind: 2,
    traceId: CALLER.traceId,
    parentSpanId: CALLER.spanId,
    "http.request.method": "POST",
    "http.route": "/v1/refunds",
    "http.response.status_code": 201,
    "url.path": "/v1/refunds",
    "url.scheme": "http",
    "server.address": "127.0.0.1",
  });
  const isLinked = ({ links = [] }: Exported) => links.some(({ spanId }) => spanId === call.spanId);
  const batch = await find("save refunds", isLinked);
  const statement = await find("INSERT payments", ({ parentSpanId }) => parentSpanId === batch.spanId);
  expect({ ...statement, ...attributesOf(statement) }).toMatchObject({
    kind: 3,
    traceId: batch.traceId,
    "db.system.name": "postgresql",
    "db.operation.name": "INSERT",
    "db.collection.name": "payments",
  });
  const dueScan = await find("due scan", isLinked);
  const attempts = [await find("send refund.pending"), await find("send refund.authorized")];
  expect(attempts.map((span) => ({ ...span, ...attributesOf(span) }))).toMatchObject(
    received.map(({ webhookId, event }) => ({
      kind: 3,
      links: [idsOf(call)],
      "messaging.system": "webhook",
      "messaging.operation.type": "send",
      "messaging.destination.name": event.type,
      "messaging.message.id": webhookId,
      "http.response.status_code": 204,
    })),
  );
  // Each piece of work is a trace of its own: a span that lasts for days would be of no use.
  const traces = [call, batch, dueScan, ...attempts].map(({ traceId }) => traceId);
  expect(new Set(traces).size).toBe(5);
  const sent = { traceparent: `00-${call.traceId}-${call.spanId}-01`, tracestate: "vendor=1" };
  expect(received.map((delivery) => delivery.headers)).toMatchObject([sent, sent]);
  const { stdout } = await server.stop();
  const lines = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const about = lines.filter(({ paymentId }) => paymentId === refund.body.paymentId);
  expect(about.map(({ msg, trace_id, span_id }) => [msg, trace_id, span_id])).toEqual([
    ["request", call.traceId, call.spanId],
    ["transition", call.traceId, undefined],
  ]);
  const deliveries = lines.filter(({ msg }) => msg === "delivery");
  expect(deliveries.map((line) => [line.trace_id, line.span_id])).toEqual(
    Array(2).fill([call.traceId, undefined]),
  );
});
