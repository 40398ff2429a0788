import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { type Refund, refundOf } from "../../helpers/factories.ts";
import { createSubscriber, type Received, startReceiver } from "../../helpers/receiver.ts";
import { post, useTestServer } from "../../helpers/server.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SENT = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, tracestate: "vendor=00f067aa0ba902b7" };

const traceOf = ({ headers: { traceparent, tracestate } }: Received) => ({ traceparent, tracestate });

describe.each(engines)("the trace of a call on %s", (engine) => {
  const server = useTestServer({ engine });
  const logged = (msg: string, paymentId: string) =>
    server.logLines
      .map((line) => JSON.parse(line))
      .filter((line) => line.msg === msg && line.paymentId === paymentId);

  test("comes back with every event of its refund, days later too, and is shown", async () => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const payment = await acme.create({ settledAt: (await acme.sandbox("getClock")).body.now });
    const headers = { ...SENT, "x-request-id": "checkout-7f3a/42" };
    const options = { token: acme.token, headers };

    const { body: refund } = await post<Refund>(
      server.url,
      "/v1/refunds",
      refundOf(payment.paymentId),
      options,
    );
    await receiver.first(2);
    await acme.sandbox("advanceClock", { body: { by: "P30D" } });
    await receiver.first(3);
    await acme.sandbox("failPayment", { path: { paymentId: payment.paymentId } });

    const received = await receiver.first(5);
    const about = (kind: string) => received.filter(({ event }) => event.type.startsWith(kind));
    expect(about("refund.").map(traceOf)).toEqual([SENT, SENT, SENT]);
    expect(about("payment.").map(traceOf)).toEqual([{}, {}]);
    expect(logged("request", refund.paymentId)).toMatchObject([
      { trace_id: TRACE_ID, callerRequestId: "checkout-7f3a/42" },
    ]);
    expect(logged("transition", refund.paymentId).map((line) => line.trace_id)).toEqual([TRACE_ID, TRACE_ID]);
    const deliveries = await acme.deliveries({ text: refund.paymentId });
    const path = { webhookId: deliveries[0]?.webhookId ?? "" };
    // An attempt is stored after its response.
    const shown = async () => (await acme.sandbox("getDelivery", { path })).body.attempts[0]?.headers;
    await expect.poll(shown).toMatchObject(SENT);
    const { items } = (await acme.sandbox("listRequests", { query: { search: refund.paymentId } })).body;
    expect(items).toMatchObject([{ traceparent: SENT.traceparent, callerRequestId: "checkout-7f3a/42" }]);
    expect(await acme.get(refund.paymentId)).toMatchObject({ traceparent: SENT.traceparent });
  });
});
