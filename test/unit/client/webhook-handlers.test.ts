import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { runInNewContext } from "node:vm";
import express, { type RequestHandler } from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  expressWebhookHandler,
  fetchWebhookHandler,
  type WebhookEvent,
  type WebhookHandlerOptions,
  WebhookVerificationError,
} from "../../../client/src/index.ts";
import { onFastify, onLambda } from "../../../docs/examples/frameworks.mts";
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

type FetchHandler = ReturnType<typeof fetchWebhookHandler>;
/** Passes a delivery to a receiver with these options. */
type Deliver = (
  options: WebhookHandlerOptions,
  delivery: Delivery,
) => Promise<{ status: number; body: string }>;

async function listen(listener: RequestListener): Promise<string> {
  const server = await serveLocally(listener);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return `${server.url}/webhooks`;
}

async function send(url: string, { body, headers }: Delivery): ReturnType<Deliver> {
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, body: await response.text() };
}

function inExpress(...before: RequestHandler[]): Deliver {
  return async (options, delivery) => {
    const app = express().post("/webhooks", ...before, expressWebhookHandler(options));
    return send(await listen(app), delivery);
  };
}

const asText: RequestHandler = (request, _response, next) => {
  request.setEncoding("utf8");
  next();
};

const inOtherRealm: RequestHandler = (request, _response, next) => {
  Object.setPrototypeOf(request.body, runInNewContext("Uint8Array.prototype"));
  next();
};

/** In what takes a handler of the Fetch API. */
function byFetch(call: (respond: FetchHandler, request: Request) => Promise<Response> | Response): Deliver {
  return async (options, { body, headers }) => {
    const request = new Request("http://127.0.0.1/webhooks", { method: "POST", body, headers });
    const response = await call(fetchWebhookHandler(options), request);
    return { status: response.status, body: await response.text() };
  };
}

const inFetch = byFetch((respond, request) => respond(request));
const hono = (respond: FetchHandler) => new Hono().post("/webhooks", ({ req }) => respond(req.raw));
const inHono = byFetch((respond, request) => hono(respond).request(request));

const inFastify: Deliver = async (options, delivery) => {
  const app = fastify().register(onFastify(expressWebhookHandler(options)));
  app.post("/orders", async ({ body }) => body);
  onTestFinished(() => app.close());
  const order = await app.inject({ method: "POST", url: "/orders", payload: { id: "1" } });
  expect(order.json()).toEqual({ id: "1" }); // other routes keep their parser
  return send(`${await app.listen()}/webhooks`, delivery);
};

const inLambda: Deliver = async (options, { body: text, headers }) => {
  const event = { headers, body: Buffer.from(text).toString("base64"), isBase64Encoded: true };
  const { statusCode, body } = await onLambda(fetchWebhookHandler(options))(event);
  return { status: statusCode, body };
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
  ["Express, behind a test runner's express.raw()", inExpress(express.raw({ type: "*/*" }), inOtherRealm)],
  ["Express, behind setEncoding()", inExpress(asText)],
  ["node:http", async (options, delivery) => send(await listen(expressWebhookHandler(options)), delivery)],
  ["the Fetch API, as in Next.js", inFetch],
  ["Fastify", inFastify],
  ["Hono", inHono],
  ["Lambda", inLambda],
])("a receiver in %s", (_, deliver) => {
  test("accepts a delivery of up to 64 KiB after its event was handled, and not before", async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    const { promise: handling, resolve: handle } = Promise.withResolvers<void>();
    const { options, events, errors } = newReceiver(() => {
      handle();
      return stored;
    });
    const finished = vi.fn();

    const response = deliver(options, signDelivery(eventOfBytes(MAX_BODY_BYTES))).finally(finished);
    await handling;
    await new Promise((resolve) => setImmediate(resolve));
    expect(finished).not.toHaveBeenCalled();
    store();

    expect(await response).toEqual({ status: 204, body: "" });
    expect(events).toMatchObject([{ event: { type: AUTHORIZED_EVENT.type }, webhookId: WEBHOOK_ID }]);
    expect(errors).toEqual([]);
  });

  const tampered = { ...signDelivery(), body: signDelivery().body.replace("1042", "1043") };
  const foreign = { body: "", headers: {} as Delivery["headers"] };
  test.each([
    ["that is forged", tampered, 400, '{"reason":"no-matching-signature"}', "WebhookVerificationError"],
    ["that is none", foreign, 400, '{"reason":"missing-header"}', "WebhookVerificationError"],
    ["that is longer", signDelivery(eventOfBytes(MAX_BODY_BYTES + 1)), 413, "", "BodyTooLargeError"],
  ])("refuses a delivery %s, and gives no more than a reason", async (_, delivery, status, body, name) => {
    const { options, events, errors } = newReceiver();

    expect(await deliver(options, delivery)).toEqual({ status, body });
    expect(events).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ name })]);
  });

  const full = new Error("disk full");
  const ofAnother = new WebhookVerificationError("missing-header", "of another webhook");
  test.each([
    ["rejects", full, () => Promise.reject(full)],
    ["fails with an error of verification", ofAnother, () => raise(ofAnother)],
  ])("asks for another attempt when the handler %s, without the reason", async (_, error, onEvent) => {
    const { options, errors } = newReceiver(onEvent);

    expect(await deliver(options, signDelivery())).toEqual({ status: 500, body: "" });
    expect(errors).toEqual([error]);
  });
});

function raise(error: Error): never {
  throw error;
}

describe("an event that is newer than the client", () => {
  const later = signDelivery({ ...AUTHORIZED_EVENT, type: "refund.reversed" });

  test("goes to onUnknownEvent, and a known one to onEvent", async () => {
    const { options, events } = newReceiver();
    const onUnknownEvent = vi.fn();
    const both: WebhookHandlerOptions = { ...options, onUnknownEvent };

    expect((await inFetch(both, later)).status).toBe(204);
    expect((await inFetch(both, signDelivery())).status).toBe(204);

    const unknown = expect.objectContaining({ name: "refund.reversed" });
    expect(onUnknownEvent.mock.calls).toEqual([[unknown, WEBHOOK_ID]]);
    expect(events).toEqual([{ event: AUTHORIZED_EVENT, webhookId: WEBHOOK_ID }]);
    onUnknownEvent.mockRejectedValue(new Error("full"));
    expect((await inFetch(both, later)).status).toBe(500);
  });
});

test.each([
  [204, [SECRET_KEY, "new secret"]],
  [204, ["old secret", SECRET_KEY]],
  [400, ["old secret", "new secret"]],
])(
  "a receiver with the secrets of two subscriptions responds %i to what one has signed: %j",
  async (status, secretKey) => {
    expect((await inFetch({ ...newReceiver().options, secretKey }, signDelivery())).status).toBe(status);
  },
);

describe("a body that was read before", () => {
  test("by express.json() is the receiver's fault, and the message says what to do", async () => {
    const { options, events, errors } = newReceiver();

    expect(await inExpress(express.json())(options, signDelivery())).toEqual({ status: 500, body: "" });
    expect(events).toEqual([]);
    expect(errors).toEqual([
      new TypeError(
        "The body was parsed already, but the signature covers the raw body: mount the handler before express.json(), or keep the bytes as request.rawBody.",
      ),
    ]);
  });

  test.each([Buffer.from, String])(
    "is taken from rawBody, where the platform has kept it (%o)",
    async (keep) => {
      const { options, events } = newReceiver();
      const { body, headers } = signDelivery();
      const parsing: RequestHandler = (request, _response, next) => {
        Object.assign(request, { rawBody: keep(body), body: JSON.parse(body) });
        next();
      };

      expect(await inExpress(parsing)(options, { body, headers })).toEqual({ status: 204, body: "" });
      expect(events).toHaveLength(1);
    },
  );

  test("of a Request is the receiver's fault as well", async () => {
    const { options, errors } = newReceiver();
    const request = new Request("http://127.0.0.1/", { method: "POST", ...signDelivery() });
    await request.text();

    expect((await fetchWebhookHandler(options)(request)).status).toBe(500);
    expect(errors).toEqual([new TypeError("The body was read already: pass on the unread request.")]);
  });

  test("by a parser that left {} because it was not meant is read", async () => {
    const asExpress4: RequestHandler = (request, _response, next) => {
      request.body = {};
      next();
    };

    expect((await inExpress(asExpress4)(newReceiver().options, signDelivery())).status).toBe(204);
  });
});

test("an error of onError is printed, and the delivery is refused all the same", async () => {
  const lost = new Error("no disk for logs");
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const onError = () => raise(lost);

  const response = await inFetch({ ...newReceiver().options, onError }, { ...signDelivery(), body: "{}" });

  expect(response.status).toBe(400);
  await vi.waitFor(() => expect(printed).toHaveBeenCalledWith(lost));
  printed.mockRestore();
});

describe("a sender that is not the service", () => {
  test("may hang up before the handler starts", async () => {
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    const { options, errors } = newReceiver();
    const url = await listen((request, response) => {
      request.on("close", () => void expressWebhookHandler(options)(request, response).then(settle));
      request.socket.destroy();
    });

    await expect(fetch(url, { method: "POST", body: "{}" })).rejects.toThrow();
    await settled;
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/hung up|aborted/) })]);
  });

  test("may hang up in the middle of the body", async () => {
    const { promise: reported, resolve: onError } = Promise.withResolvers<unknown>();
    const { options, events } = newReceiver();
    const { port } = new URL(await listen(expressWebhookHandler({ ...options, onError })));

    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    socket.destroySoon();

    expect(await reported).toBeInstanceOf(Error);
    expect(events).toEqual([]);
  });

  test("may send without end, and gets a response at the limit", async () => {
    const endless = new ReadableStream({ pull: (sink) => sink.enqueue(new Uint8Array(16 * 1024)) });
    // Node's types lack `duplex`, which its fetch requires for a streamed body.
    const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;

    const response = await fetchWebhookHandler(newReceiver().options)(new Request("http://127.0.0.1/", init));

    expect(response.status).toBe(413);
  });
});

test.each([expressWebhookHandler, fetchWebhookHandler])("%o can't be made without a secret", (create) => {
  for (const secretKey of ["", [], ["a secret", ""]])
    expect(() => create({ ...newReceiver().options, secretKey })).toThrow(/^secretKey is missing/);
});
