import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import express, { type RequestHandler } from "express";
import { afterEach, describe, expect, test } from "vitest";
import {
  expressWebhookHandler,
  fetchWebhookHandler,
  type WebhookEvent,
  type WebhookHandlerOptions,
  WebhookVerificationError,
} from "../../client/src/index.ts";
import { AUTHORIZED_EVENT, type Delivery, givenDelivery, SECRET_KEY, SENT_AT, WEBHOOK_ID } from "./given.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** What a receiver answered. */
type Answer = { readonly status: number; readonly body: string };
/** Hands a delivery to a receiver that was made of these options. */
type Deliver = (options: WebhookHandlerOptions, delivery: Delivery) => Promise<Answer>;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

async function send(url: string, { body, headers }: Delivery): Promise<Answer> {
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

/** Options that keep what they heard. */
function givenReceiver(onEvent: (event: WebhookEvent, webhookId: string) => unknown = () => {}) {
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
    const { options, events, errors } = givenReceiver();

    expect(await deliver(options, givenDelivery())).toEqual({ status: 204, body: "" });
    expect(events).toEqual([{ event: AUTHORIZED_EVENT, webhookId: WEBHOOK_ID }]);
    expect(errors).toEqual([]);
  });

  test("answers after the event was handled, and not before", async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const { promise: handling, resolve: handle } = Promise.withResolvers<void>();
    const { options } = givenReceiver(() => {
      handle();
      return stored;
    });

    let answered = false;
    const answer = deliver(options, givenDelivery()).finally(() => {
      answered = true;
    });
    await handling;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    store();

    expect((await answer).status).toBe(204);
  });

  test("refuses a delivery that can't be verified, and tells the reason and no more", async () => {
    const { options, events, errors } = givenReceiver();
    const { body, headers } = givenDelivery();

    const answer = await deliver(options, { body: body.replace("1042", "1043"), headers });

    expect(answer).toEqual({ status: 400, body: '{"reason":"no-matching-signature"}' });
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
    const { options, errors } = givenReceiver(onEvent);

    expect(await deliver(options, givenDelivery())).toEqual({ status: 500, body: "" });
    expect(errors).toEqual([new Error("disk full")]);
  });

  test("asks for another attempt when the handler fails with an error of verification", async () => {
    const { options } = givenReceiver(() => {
      throw new WebhookVerificationError("missing-header", "of another webhook");
    });

    expect((await deliver(options, givenDelivery())).status).toBe(500);
  });

  test("reads 64 KiB", async () => {
    const { options } = givenReceiver();

    const answer = await deliver(options, givenDelivery(eventOfBytes(MAX_BODY_BYTES)));

    expect(answer.status).toBe(204);
  });

  test("refuses more", async () => {
    const { options, events, errors } = givenReceiver();

    const answer = await deliver(options, givenDelivery(eventOfBytes(MAX_BODY_BYTES + 1)));

    expect(answer).toEqual({ status: 413, body: "" });
    expect(events).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ name: "BodyTooLargeError" })]);
  });

  test("refuses a call that is no delivery", async () => {
    const { options } = givenReceiver();

    const answer = await deliver(options, { body: "", headers: {} as Delivery["headers"] });

    expect(answer).toEqual({ status: 400, body: '{"reason":"missing-header"}' });
  });
});

describe("an event that is newer than the client", () => {
  const later = givenDelivery({ ...AUTHORIZED_EVENT, type: "refund.reversed" });

  test("goes to onUnknownEvent, and a known one to onEvent", async () => {
    const { options, events } = givenReceiver();
    const unknown: unknown[] = [];
    const both: WebhookHandlerOptions = {
      ...options,
      onUnknownEvent: (event, webhookId) => unknown.push({ name: event.name, webhookId }),
    };

    expect((await inFetch(both, later)).status).toBe(204);
    expect((await inFetch(both, givenDelivery())).status).toBe(204);

    expect(unknown).toEqual([{ name: "refund.reversed", webhookId: WEBHOOK_ID }]);
    expect(events).toEqual([{ event: AUTHORIZED_EVENT, webhookId: WEBHOOK_ID }]);
  });

  test("goes to onEvent when there is nobody else", async () => {
    const { options, events } = givenReceiver();

    expect((await inFetch(options, later)).status).toBe(204);
    expect(events).toMatchObject([{ event: { type: "unknown", name: "refund.reversed" } }]);
  });

  test("is delivered again when onUnknownEvent fails", async () => {
    const { options } = givenReceiver();
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
    const { options, events } = givenReceiver();

    expect((await inFetch({ ...options, secretKey }, givenDelivery())).status).toBe(204);
    expect(events).toHaveLength(1);
  });

  test("refuses what is signed with neither", async () => {
    const { options } = givenReceiver();

    const answer = await inFetch({ ...options, secretKey: ["old secret", "new secret"] }, givenDelivery());

    expect(answer.status).toBe(400);
  });
});

describe("a body that was read before", () => {
  test("by express.json() is the receiver's fault, and the message tells what to do", async () => {
    const { options, events, errors } = givenReceiver();

    expect(await inExpress(express.json())(options, givenDelivery())).toEqual({ status: 500, body: "" });
    expect(events).toEqual([]);
    expect(errors).toEqual([
      new TypeError(
        "The body was parsed already, and the signature covers it as it came: mount the handler before express.json().",
      ),
    ]);
  });

  test("of a Request is the receiver's fault as well", async () => {
    const { options, errors } = givenReceiver();
    const { body, headers } = givenDelivery();
    const request = new Request("http://127.0.0.1/", { method: "POST", body, headers });
    await request.text();

    expect((await fetchWebhookHandler(options)(request)).status).toBe(500);
    expect(errors).toEqual([new TypeError("The body was read already: hand the request on as it came.")]);
  });

  test("by a parser that left {} because it was not meant is read", async () => {
    const { options } = givenReceiver();
    const asExpress4: RequestHandler = (request, _response, next) => {
      request.body = {};
      next();
    };

    expect((await inExpress(asExpress4)(options, givenDelivery())).status).toBe(204);
  });
});

describe("a sender that is not the service", () => {
  test("may hang up in the middle of the body", async () => {
    const { promise: reported, resolve: onError } = Promise.withResolvers<unknown>();
    const { options, events } = givenReceiver();
    const { port } = new URL(await listen(expressWebhookHandler({ ...options, onError })));

    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", () =>
      socket.destroy(),
    );

    expect(await reported).toBeInstanceOf(Error);
    expect(events).toEqual([]);
  });

  test("may send without end, and is answered at the limit", async () => {
    const { options } = givenReceiver();
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
    });
    // Node's types lack what its fetch demands of a body that is still to come.
    const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;

    const response = await fetchWebhookHandler(options)(new Request("http://127.0.0.1/", init));

    expect(response.status).toBe(413);
  });
});

test.each([expressWebhookHandler, fetchWebhookHandler])(
  "%o can't be made without a secret",
  (createHandler) => {
    for (const secretKey of ["", [], ["a secret", ""]]) {
      expect(() => createHandler({ ...givenReceiver().options, secretKey })).toThrow(/^secretKey is missing/);
    }
  },
);

/** An event whose JSON is so long. */
function eventOfBytes(bytes: number): string {
  const text = (note: string) => JSON.stringify({ ...AUTHORIZED_EVENT, data: { note } });
  return text("x".repeat(bytes - text("").length));
}
