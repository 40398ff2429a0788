import type { RequestListener } from "node:http";
import { connect } from "node:net";
import express, { type RequestHandler } from "express";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  expressWebhookHandler,
  fetchWebhookHandler,
  type WebhookEvent,
  type WebhookHandlerOptions,
  WebhookVerificationError,
} from "../../../client/src/index.ts";
import {
  AUTHORIZED_EVENT,
  type Delivery,
  eventOfBytes,
  SECRET_KEY,
  SENT_AT,
  signDelivery,
  WEBHOOK_ID,
} from "../../client/signed-deliveries.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** A receiver's response. */
type ReceiverResponse = { readonly status: number; readonly body: string };
/** Passes a delivery to a receiver with these options. */
type Deliver = (options: WebhookHandlerOptions, delivery: Delivery) => Promise<ReceiverResponse>;

async function listen(listener: RequestListener): Promise<string> {
  const server = await serveLocally(listener);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return `${server.url}/webhooks`;
}

async function send(url: string, { body, headers }: Delivery): Promise<ReceiverResponse> {
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, body: await response.text() };
}

function inExpress(...before: RequestHandler[]): Deliver {
  return async (options, delivery) => {
    const app = express().post("/webhooks", ...before, expressWebhookHandler(options));
    return send(await listen(app), delivery);
  };
}

const inNode: Deliver = async (options, delivery) =>
  send(await listen(expressWebhookHandler(options)), delivery);

const inFetch: Deliver = async (options, { body, headers }) => {
  const request = new Request("http://127.0.0.1/webhooks", { method: "POST", body, headers });
  const response = await fetchWebhookHandler(options)(request);
  return { status: response.status, body: await response.text() };
};

/** Options that record the calls of their functions. */
function newReceiver(onEvent: (event: WebhookEvent, webhookId: string) => unknown = () => {}) {
  const events: unknown[] = [];
  const errors: unknown[] = [];
  const options: WebhookHandlerOptions = {
    secretKey: SECRET_KEY,
    now: () => SENT_AT,
    onEvent: (event, webhookId) => {
      events.push({ event, webhookId });
      return onEvent(event, webhookId);
    },
    onError: (error) => errors.push(error),
  };
  return { options, events, errors };
}

describe.each<[string, Deliver]>([
  ["Express", inExpress()],
  ["Express, behind express.raw()", inExpress(express.raw({ type: "*/*" }))],
  ["Express, behind express.text()", inExpress(express.text({ type: "*/*" }))],
  ["node:http", inNode],
  ["the Fetch API", inFetch],
])("a receiver in %s", (_, deliver) => {
  test("accepts a delivery when its event was handled", async () => {
    const { options, events, errors } = newReceiver();

    expect(await deliver(options, signDelivery())).toEqual({ status: 204, body: "" });
    expect(events).toEqual([{ event: AUTHORIZED_EVENT, webhookId: WEBHOOK_ID }]);
    expect(errors).toEqual([]);
  });

  test("responds after the event was handled, and not before", async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const { promise: handling, resolve: handle } = Promise.withResolvers<void>();
    const { options } = newReceiver(() => {
      handle();
      return stored;
    });

    let finished = false;
    const response = deliver(options, signDelivery()).finally(() => {
      finished = true;
    });
    await handling;
    await new Promise((resolve) => setImmediate(resolve));
    expect(finished).toBe(false);
    store();

    expect((await response).status).toBe(204);
  });

  test("refuses a delivery that can't be verified, and gives the reason and no more", async () => {
    const { options, events, errors } = newReceiver();
    const { body, headers } = signDelivery();

    const response = await deliver(options, { body: body.replace("1042", "1043"), headers });

    expect(response).toEqual({ status: 400, body: '{"reason":"no-matching-signature"}' });
    expect(events).toEqual([]);
    expect(errors).toEqual([expect.any(WebhookVerificationError)]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("disk full");
      },
    ],
    ["rejects", () => Promise.reject(new Error("disk full"))],
  ])("asks for another attempt when the handler %s, and keeps to itself why", async (_, onEvent) => {
    const { options, errors } = newReceiver(onEvent);

    expect(await deliver(options, signDelivery())).toEqual({ status: 500, body: "" });
    expect(errors).toEqual([new Error("disk full")]);
  });

  test("asks for another attempt when the handler fails with an error of verification", async () => {
    const { options } = newReceiver(() => {
      throw new WebhookVerificationError("missing-header", "of another webhook");
    });

    expect((await deliver(options, signDelivery())).status).toBe(500);
  });

  test("reads 64 KiB", async () => {
    const { options } = newReceiver();

    const response = await deliver(options, signDelivery(eventOfBytes(MAX_BODY_BYTES)));

    expect(response.status).toBe(204);
  });

  test("refuses more", async () => {
    const { options, events, errors } = newReceiver();

    const response = await deliver(options, signDelivery(eventOfBytes(MAX_BODY_BYTES + 1)));

    expect(response).toEqual({ status: 413, body: "" });
    expect(events).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ name: "BodyTooLargeError" })]);
  });

  test("refuses a call that is no delivery", async () => {
    const { options } = newReceiver();

    const response = await deliver(options, { body: "", headers: {} as Delivery["headers"] });

    expect(response).toEqual({ status: 400, body: '{"reason":"missing-header"}' });
  });
});

describe("an event that is newer than the client", () => {
  const later = signDelivery({ ...AUTHORIZED_EVENT, type: "refund.reversed" });

  test("goes to onUnknownEvent, and a known one to onEvent", async () => {
    const { options, events } = newReceiver();
    const unknown: unknown[] = [];
    const both: WebhookHandlerOptions = {
      ...options,
      onUnknownEvent: (event, webhookId) => unknown.push({ name: event.name, webhookId }),
    };

    expect((await inFetch(both, later)).status).toBe(204);
    expect((await inFetch(both, signDelivery())).status).toBe(204);

    expect(unknown).toEqual([{ name: "refund.reversed", webhookId: WEBHOOK_ID }]);
    expect(events).toEqual([{ event: AUTHORIZED_EVENT, webhookId: WEBHOOK_ID }]);
  });

  test("goes to onEvent when there is nobody else", async () => {
    const { options, events } = newReceiver();

    expect((await inFetch(options, later)).status).toBe(204);
    expect(events).toMatchObject([{ event: { type: "unknown", name: "refund.reversed" } }]);
  });

  test("is delivered again when onUnknownEvent fails", async () => {
    const { options } = newReceiver();
    const failing: WebhookHandlerOptions = {
      ...options,
      onUnknownEvent: () => Promise.reject(new Error("full")),
    };

    expect((await inFetch(failing, later)).status).toBe(500);
  });
});

describe("a receiver with the secrets of two subscriptions", () => {
  test.each([
    ["the old one", [SECRET_KEY, "new secret"]],
    ["the new one", ["old secret", SECRET_KEY]],
  ])("accepts what is signed with %s", async (_, secretKey) => {
    const { options, events } = newReceiver();

    expect((await inFetch({ ...options, secretKey }, signDelivery())).status).toBe(204);
    expect(events).toHaveLength(1);
  });

  test("refuses what is signed with neither", async () => {
    const { options } = newReceiver();

    const response = await inFetch({ ...options, secretKey: ["old secret", "new secret"] }, signDelivery());

    expect(response.status).toBe(400);
  });
});

describe("a body that was read before", () => {
  test("by express.json() is the receiver's fault, and the message says what to do", async () => {
    const { options, events, errors } = newReceiver();

    expect(await inExpress(express.json())(options, signDelivery())).toEqual({ status: 500, body: "" });
    expect(events).toEqual([]);
    expect(errors).toEqual([
      new TypeError(
        "The body was parsed already, but the signature covers the raw body: mount the handler before express.json().",
      ),
    ]);
  });

  test("of a Request is the receiver's fault as well", async () => {
    const { options, errors } = newReceiver();
    const { body, headers } = signDelivery();
    const request = new Request("http://127.0.0.1/", { method: "POST", body, headers });
    await request.text();

    expect((await fetchWebhookHandler(options)(request)).status).toBe(500);
    expect(errors).toEqual([new TypeError("The body was read already: pass on the unread request.")]);
  });

  test("by a parser that left {} because it was not meant is read", async () => {
    const { options } = newReceiver();
    const asExpress4: RequestHandler = (request, _response, next) => {
      request.body = {};
      next();
    };

    expect((await inExpress(asExpress4)(options, signDelivery())).status).toBe(204);
  });
});

describe("a sender that is not the service", () => {
  test("may hang up in the middle of the body", async () => {
    const { promise: reported, resolve: onError } = Promise.withResolvers<unknown>();
    const { options, events } = newReceiver();
    const { port } = new URL(await listen(expressWebhookHandler({ ...options, onError })));

    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", () =>
      socket.destroy(),
    );

    expect(await reported).toBeInstanceOf(Error);
    expect(events).toEqual([]);
  });

  test("may send without end, and gets a response at the limit", async () => {
    const { options } = newReceiver();
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
    });
    // Node's types lack `duplex`, which its fetch requires for a streamed body.
    const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;

    const response = await fetchWebhookHandler(options)(new Request("http://127.0.0.1/", init));

    expect(response.status).toBe(413);
  });
});

test.each([expressWebhookHandler, fetchWebhookHandler])("%o can't be made without a secret", (create) => {
  for (const secretKey of ["", [], ["a secret", ""]]) {
    expect(() => create({ ...newReceiver().options, secretKey })).toThrow(/^secretKey is missing/);
  }
});
