import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { describe, expect, test } from "vitest";
import { createConnections } from "../../../../server/webhooks/connections.ts";
import { type SendOptions, type SendResult, send } from "../../../../server/webhooks/send.ts";
import { resolverOf } from "../../../helpers/network/resolver.ts";
import { respondWith, startRawReceiver, startReceiver } from "../../../helpers/receiver.ts";

/** Longer than any test may take, also on a busy machine. */
const HOUR_MS = 3_600_000;
/** For receivers that are late; and where something has to come in time all the same. */
const [TIMEOUT_MS, LONGER_MS] = [300, 2_000];
const OPTIONS: SendOptions = {
  policy: { allowLocal: true, allowPrivate: false },
  resolve: resolverOf({ "hooks.example.com": ["127.0.0.1"] }),
  timeoutMs: HOUR_MS,
  signal: new AbortController().signal,
};
const DELIVERY = { headers: { "webhook-id": "msg_1" }, body: '{"type":"refund.pending"}' };

/** The result for a sender when the server does this with each of its connections. */
async function sendTo(onConnection: (socket: Socket) => void, options = OPTIONS): Promise<SendResult> {
  await using receiver = await startRawReceiver((socket) => {
    socket.once("data", () => onConnection(socket));
  });
  return await send({ ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` }, options);
}

/** Writes chunks as fast as the other side reads them, until it disconnects. */
function pour(socket: Socket, chunk: Uint8Array): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk)) {}
  };
  socket.on("drain", write);
  write();
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("x"), 20);
  socket.on("close", () => clearInterval(timer));
}

const head = (status: string, headers = "") => `HTTP/1.1 ${status}\r\n${headers}\r\n`;
const EMPTY = "Content-Length: 0\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const success = (status: number, bodyStart = "") => ({ status, error: null, bodyStart });
const failure = (error: string) => ({ status: null, error, bodyStart: null });
const CLOSED = failure("the connection was closed before a response came");
const LATE = failure("no response within 0.3 s");

/** @decision D21 D23 */
describe("a receiver", () => {
  test.each<
    [does: string, onConnection: (socket: Socket) => void, result: Partial<SendResult>, timeoutMs?: number]
  >([
    ["that responds with 200", (socket) => socket.end(head("200 OK", EMPTY)), success(200)],
    ["that responds with 204", (socket) => socket.end(head("204 No Content")), success(204)],
    ["that responds with 299", (socket) => socket.end(head("299 Fine", EMPTY)), success(299)],
    [
      "that responds with 204 after 102 and 103",
      (socket) => socket.end(head("102 Processing") + head("103 Early Hints") + head("204 No Content")),
      success(204),
    ],
    ["that responds with 199 and nothing more", (socket) => socket.end(head("199 Odd", EMPTY)), CLOSED],
    [
      "that responds with 301",
      (socket) => socket.end(head("301 Moved", `Location: /other\r\n${EMPTY}`)),
      { status: 301, error: "responded 301, and redirects are not followed" },
    ],
    [
      "that responds with 404",
      (socket) => socket.end(head("404 No", EMPTY)),
      { status: 404, error: "responded 404" },
    ],
    [
      "that responds with 410",
      (socket) => socket.end(head("410 Gone", EMPTY)),
      { status: 410, error: "responded 410, which ends the subscription" },
    ],
    [
      "that responds with 429 and Retry-After",
      (socket) => socket.end(head("429 Slowly", `Retry-After: 7\r\n${EMPTY}`)),
      { status: 429, error: "responded 429", retryAfter: "7" },
    ],
    [
      "that responds with 500",
      (socket) => socket.end(head("500 Oh", EMPTY)),
      { status: 500, error: "responded 500" },
    ],
    ["that closes before the head", (socket) => socket.end(), CLOSED],
    ["that closes within the head", (socket) => socket.end("HTTP/1.1 200 OK\r\nConte"), CLOSED],
    ["that resets the connection", (socket) => socket.resetAndDestroy(), CLOSED],
    [
      "whose response is not HTTP",
      (socket) => socket.end("hello\r\n\r\n"),
      failure("the response is not HTTP"),
    ],
    [
      "whose head has no end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        pour(socket, Buffer.from(`X-Filler: ${"x".repeat(1_000)}\r\n`));
      },
      failure("the response's head is too large"),
    ],
    ["that never responds", () => {}, LATE, TIMEOUT_MS],
    [
      "whose head comes too late",
      (socket) => {
        const timer = setTimeout(() => socket.end(head("200 OK", EMPTY)), TIMEOUT_MS + 200);
        socket.on("close", () => clearTimeout(timer));
      },
      LATE,
      TIMEOUT_MS,
    ],
    [
      "whose head comes a byte at a time for ever",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nX-Filler: ");
        drip(socket);
      },
      LATE,
      TIMEOUT_MS,
    ],
    [
      "whose body comes a byte at a time for ever",
      (socket) => {
        socket.write(head("200 OK", "Content-Length: 1000000\r\n"));
        drip(socket);
      },
      { status: 200, error: null, bodyStart: expect.stringMatching(/^x+$/) },
      LONGER_MS,
    ],
    [
      "that closes within the body",
      (socket) => socket.end(`${head("200 OK", "Content-Length: 100\r\n")}half`),
      success(200, "half"),
    ],
    [
      "whose body is cut off where chunks should be",
      (socket) => socket.end(`${head("200 OK", CHUNKED)}4\r\nhalf\r\nno chunk`),
      success(200, "half"),
    ],
    [
      "whose response is longer than what is kept",
      (socket) => socket.end(head("500 Oh", "Content-Length: 5000\r\n") + "ü".repeat(2_500)),
      { status: 500, error: "responded 500", bodyStart: "ü".repeat(512) },
    ],
    [
      "whose response is not text",
      (socket) => {
        socket.write(head("200 OK", "Content-Length: 3\r\n"));
        socket.end(Buffer.of(0x61, 0x00, 0xff));
      },
      success(200, "a\uFFFD\uFFFD"),
    ],
    [
      "that sends the connection on to another protocol",
      (socket) => socket.end(head("101 Switching Protocols", "Upgrade: x\r\nConnection: upgrade\r\n")),
      { status: null, bodyStart: null, error: expect.any(String) },
    ],
  ])("%s", async (_, onConnection, result, timeoutMs = HOUR_MS) => {
    expect(await sendTo(onConnection, { ...OPTIONS, timeoutMs })).toMatchObject(result);
  });

  test("that ends the connection with each response gets each delivery once, over a new one", async () => {
    await using receiver = await startReceiver(respondWith(204, { connection: "close" }));
    const connections = createConnections();
    const results: SendResult[] = [];

    // At once, while the connection of the delivery before is being ended.
    for (let count = 0; count < 10; count += 1) {
      results.push(await send({ ...DELIVERY, url: receiver.url }, { ...OPTIONS, connections }));
    }

    await connections.close();
    expect(results.map(({ status, error }) => [status, error])).toEqual(Array(10).fill([204, null]));
    expect(receiver.received).toHaveLength(10);
  });

  test("that ends a kept connection when it is used again gets the delivery over a new one", async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.once("data", () => {
        socket.write(head("200 OK", EMPTY));
        socket.once("data", () => socket.destroy());
      });
    });
    const delivery = { ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` };
    const connections = createConnections();

    await send(delivery, { ...OPTIONS, connections });
    const result = await send(delivery, { ...OPTIONS, connections });

    await connections.close();
    expect(result).toMatchObject(success(200));
    expect(receiver.connections()).toBe(2);
  });

  test("that is not there", async () => {
    const gone = await startRawReceiver(() => {});
    await gone[Symbol.asyncDispose]();

    const result = await send({ ...DELIVERY, url: `http://127.0.0.1:${gone.port}/` }, OPTIONS);

    expect(result).toMatchObject(failure("connection refused"));
  });

  test("whose response never ends is cut off, and takes no more memory than one that ends", async () => {
    const chunk = Buffer.alloc(64 * 1_024, "x");
    let taken = 0;
    await using receiver = await startRawReceiver((socket) => {
      socket.once("data", () => {
        socket.write(head("200 OK"));
        pour(socket, chunk);
      });
      socket.on("close", () => {
        taken += socket.bytesWritten - socket.writableLength;
      });
    });
    const delivery = { ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` };
    const before = process.memoryUsage().rss;

    const results = await Promise.all(Array.from({ length: 50 }, () => send(delivery, OPTIONS)));

    expect(new Set(results.map(({ status, bodyStart }) => `${status} ${bodyStart?.length}`))).toEqual(
      new Set(["200 1024"]),
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    // The buffers on both sides of a connection accept data too; without a limit, the amount would depend only on time.
    expect(taken / 50).toBeLessThan(16 * 2 ** 20);
  });

  test("gets the body as it is, its own host's name, and no more headers than are needed", async () => {
    await using receiver = await startReceiver();
    const { port } = new URL(receiver.url);

    await send({ ...DELIVERY, url: `http://hooks.example.com:${port}/a?b=c&d=%2F#not-sent` }, OPTIONS);

    expect(receiver.received.map(({ target, headers, body }) => ({ target, headers, body }))).toEqual([
      {
        target: "/a?b=c&d=%2F",
        body: DELIVERY.body,
        headers: {
          host: `hooks.example.com:${port}`,
          connection: "keep-alive",
          "content-length": `${DELIVERY.body.length}`,
          "webhook-id": "msg_1",
        },
      },
    ]);
  });
});

/** Created for these tests: a root certificate, one for this machine, an expired one, and one for another host. */
const pem = (name: string) => readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url), "utf8");

describe("over https", () => {
  const key = pem("receiver.key");
  const trusting = { ...OPTIONS, secureContext: createSecureContext({ ca: pem("authority.pem") }) };

  test.each<[cert: string, host: string, options: SendOptions, error: string | null]>([
    ["receiver.pem", "127.0.0.1", trusting, null],
    ["receiver.pem", "hooks.example.com", trusting, null],
    ["expired.pem", "127.0.0.1", trusting, "the certificate has expired"],
    ["other.pem", "hooks.example.com", trusting, "the certificate is for another host"],
    ["receiver.pem", "127.0.0.1", OPTIONS, "the certificate's issuer is not trusted"],
  ])("%s of %s is taken or refused", async (cert, host, options, error) => {
    await using receiver = await startReceiver(undefined, { tls: { key, cert: pem(cert) } });
    const { port } = new URL(receiver.url);

    const result = await send({ ...DELIVERY, url: `https://${host}:${port}/` }, options);

    expect(result.error).toBe(error);
    expect(receiver.received.length).toBe(error === null ? 1 : 0);
  });

  test("a certificate that has expired is refused also where the environment says otherwise", async () => {
    await using receiver = await startReceiver(undefined, { tls: { key, cert: pem("expired.pem") } });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      const result = await send({ ...DELIVERY, url: receiver.url }, trusting);

      expect(result.error).toBe("the certificate has expired");
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });
});
