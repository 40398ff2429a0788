import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingHttpHeaders } from "node:http";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { expect, test } from "vitest";
import { createClient } from "../../client/src/index.ts";
import { problem, REFUND, type Step, startScriptedServer } from "./scripted-server.ts";

const SPAN = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 };
const TRACEPARENT = `00-${SPAN.traceId}-${SPAN.spanId}-01`;

/** The trace headers of the two attempts of a call. */
async function headersOf(active = ROOT_CONTEXT): Promise<IncomingHttpHeaders[]> {
  const received: IncomingHttpHeaders[] = [];
  const respond: Step = (response, request) => {
    const { traceparent, tracestate, baggage } = request.headers;
    received.push({ traceparent, ...(tracestate && { tracestate }), ...(baggage && { baggage }) });
    if (received.length === 1) return problem(503, "UNAVAILABLE")(response, request);
    response.writeHead(201, { "Content-Type": "application/json" }).end(JSON.stringify(REFUND));
  };
  await using service = await startScriptedServer(respond);
  const client = createClient({ baseUrl: service.url, accessToken: "token", random: () => 0 });
  const refund = { paymentId: "pay_1", amount: { currency: "USD", value: 1 }, requestKey: "key" } as const;
  await context.with(active, () => client.refunds.issue(refund));
  return received;
}

const inSpan = trace.setSpanContext(ROOT_CONTEXT, SPAN);
const NONE = [{ traceparent: undefined }, { traceparent: undefined }];

test("a call sends no trace where no SDK is loaded", async () => {
  expect(await headersOf(inSpan)).toEqual(NONE);
});

test("with an SDK each attempt sends the caller's trace, and no baggage", async () => {
  const provider = new NodeTracerProvider();
  provider.register();
  try {
    const baggage = propagation.createBaggage({ customer: { value: "jane" } });

    expect(await headersOf(propagation.setBaggage(inSpan, baggage))).toEqual([
      { traceparent: TRACEPARENT },
      { traceparent: TRACEPARENT },
    ]);
    expect(await headersOf()).toEqual(NONE);
    // What adds the headers to each request of Node's `fetch` listens here.
    const listener = () => {};
    subscribe("undici:request:create", listener);
    try {
      expect(await headersOf(inSpan)).toEqual(NONE);
    } finally {
      unsubscribe("undici:request:create", listener);
    }
  } finally {
    trace.disable();
    context.disable();
    propagation.disable();
    await provider.shutdown();
  }
});
