import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConnections } from "../../../../server/webhooks/receiver-connections.ts";
import { type SendOptions, type SendResult, send } from "../../../../server/webhooks/send-request.ts";
import { resolverOf } from "../../../helpers/network/nameserver.ts";
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

/** Writes a start, and then a byte at a time. */
function drip(socket: Socket, start: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write("x"), 20);
  socket.on("close", () => clearInterval(timer));
}

const head = (status: string, headers = "") => `HTTP/1.1 ${status}\r\n${headers}\r\n`;
const EMPTY = "Content-Length: 0\r\n";
const FOUR = "Content-Length: 4\r\n";
const INTERIM = [100, 102, 103, 110, 150, 199];
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const success = (status: number, bodyStart = "") => ({ status, error: null, bodyStart, timedOut: false });
const failure = (error: string, timedOut = false) => ({ status: null, error, bodyStart: null, timedOut });
const refusal = (status: number, more = "") => ({ status, error: `responded ${status}${more}` });
const CLOSED = failure("the connection was closed before a response came");
const LATE = failure("no response within 0.3 s", true);

describe("a receiver", () => {
  test.each<[sent: string, bytes: string | Buffer, result: object]>([
    ["200", head("200 OK", EMPTY), success(200)],
    ["299", head("299 Fine", EMPTY), success(299)],
    ...INTERIM.map((status): [string, string, object] => [
      `200 after ${status} once, and twice with headers`,
      head(`${status} Wait`) +
        head(`${status} Wait`, "Link: </a>\r\nX-Proxy: b\r\n").repeat(2) +
        head("200 OK", EMPTY),
      success(200),
    ]),
    [
      "a hundred 103s",
      head("103 Early").repeat(100) + head("200 OK", EMPTY),
      failure("the response's head is too large"),
    ],
    ["line feeds without end", "\r\n".repeat(300_000), failure("the response's head is too large")],
    [
      "a head of many lines",
      head("200 OK", "a: b\r\n".repeat(4_000)),
      failure("the response's head is too large"),
    ],
    [
      "a reason without end",
      `HTTP/1.1 200 ${"a".repeat(600_000)}`,
      failure("the response's head is too large"),
    ],
    ["199 and nothing more", head("199 Odd", EMPTY), CLOSED],
    ["half of a head after 100", `${head("100 Continue")}HTTP/1.1 200 OK\r\nConte`, CLOSED],
    ["its length twice", `${head("200 OK", FOUR.repeat(2))}body`, success(200, "body")],
    ["its length twice in a line", `${head("500 Oh", "content-length: 4, 4\r\n")}body`, refusal(500)],
    [
      "two lengths",
      `${head("200 OK", `${FOUR}Content-Length: 5\r\n`)}body`,
      failure("the response has two lengths"),
    ],
    ["a length and chunks", `${head("200 OK", FOUR + CHUNKED)}2\r\nok\r\n0\r\n\r\n`, success(200, "ok")],
    [
      "300",
      head("300 Choose", `Location: /other\r\n${EMPTY}`),
      refusal(300, ", and redirects are not followed"),
    ],
    ["400", head("400 No", EMPTY), refusal(400)],
    ["410", head("410 Gone", EMPTY), refusal(410, ", which ends the subscription")],
    ["429", head("429 Slowly", `Retry-After: 7\r\n${EMPTY}`), { ...refusal(429), retryAfter: "7" }],
    ["500", head("500 Oh", EMPTY), refusal(500)],
    ["nothing", "", CLOSED],
    ["half of a head", "HTTP/1.1 200 OK\r\nConte", CLOSED],
    ["no HTTP", "hello\r\n\r\n", failure("the response is not HTTP")],
    ["half of a body", `${head("200 OK", "Content-Length: 100\r\n")}half`, success(200, "half")],
    ["no more chunks", `${head("200 OK", CHUNKED)}4\r\nhalf\r\nno chunk`, success(200, "half")],
    [
      "more than what is kept",
      head("500 Oh", "Content-Length: 5000\r\n") + "ü".repeat(2_500),
      { ...refusal(500), bodyStart: "ü".repeat(512) },
    ],
    [
      "no text",
      Buffer.from(`${head("200 OK", "Content-Length: 3\r\n")}a\0\xff`, "latin1"),
      success(200, "a\uFFFD\uFFFD"),
    ],
    ["101", head("101 Other", "Upgrade: x\r\nConnection: upgrade\r\n"), failure(expect.any(String))],
  ])("that responds with %s", async (_, bytes, result) => {
    expect(await sendTo((socket) => socket.end(bytes))).toMatchObject(result);
  });

  test.each<[does: string, onConnection: (socket: Socket) => void, result: object, timeoutMs?: number]>([
    ["that resets the connection", (socket) => socket.resetAndDestroy(), CLOSED],
    [
      "whose head has no end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        pour(socket, Buffer.from(`X-Filler: ${"x".repeat(1_000)}\r\n`));
      },
      failure("the response's head is too large"),
    ],
    [
      "that continues 200 ms before the end, in pieces",
      (socket) => {
        const pieces = ["HTTP/1.1 100 Cont", "inue\r\n\r", "\nHTTP/1.", "1 204 Done\r\n\r\n"];
        const timer = setInterval(() => socket.write(pieces.shift() ?? ""), 50);
        socket.on("close", () => clearInterval(timer));
      },
      success(204),
    ],
    ["that only continues", (socket) => socket.write(head("100 Continue")), LATE, TIMEOUT_MS],
    ["that never responds", () => {}, LATE, TIMEOUT_MS],
    [
      "whose head comes a byte at a time for ever",
      (socket) => drip(socket, "HTTP/1.1 200 OK\r\nX-Filler: "),
      LATE,
      TIMEOUT_MS,
    ],
    [
      "whose body comes a byte at a time for ever",
      (socket) => drip(socket, head("200 OK", "Content-Length: 1000000\r\n")),
      success(200, expect.stringMatching(/^x+$/)),
      LONGER_MS,
    ],
  ])("%s", async (_, onConnection, result, timeoutMs = HOUR_MS) => {
    expect(await sendTo(onConnection, { ...OPTIONS, timeoutMs })).toMatchObject(result);
  });

  test("that ends the connection with each response gets each delivery once, over a new one", async () => {
    await using receiver = await startReceiver(respondWith(204, { connection: "close" }));
    const connections = createConnections();
    const results: SendResult[] = [];

    // At once, while the connection of the delivery before is being ended.
    for (let count = 0; count < 10; count += 1)
      results.push(await send({ ...DELIVERY, url: receiver.url }, { ...OPTIONS, connections }));

    await connections.close();
    expect(results.map(({ status, error }) => [status, error])).toEqual(Array(10).fill([204, null]));
    expect(receiver.received).toHaveLength(10);
  });

  test("that sends 100 Continue before each response gets all deliveries over one connection", async () => {
    await using receiver = await startRawReceiver((socket) => {
      socket.on("data", () => socket.write(`${head("100 Continue") + head("200 OK", FOUR.repeat(2))}body`));
    });
    const delivery = { ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` };
    const connections = createConnections();

    const results = [];
    for (let count = 0; count < 3; count += 1)
      results.push(await send(delivery, { ...OPTIONS, connections }));

    await connections.close();
    expect(results).toMatchObject(Array(3).fill(success(200, "body")));
    expect(receiver.connections()).toBe(1);
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

  test("that ends a connection while it is idle gets the next delivery over a new one", async () => {
    const closed = Promise.withResolvers<void>();
    await using receiver = await startRawReceiver((socket) => {
      socket.once("data", () => socket.end(head("200 OK", EMPTY)));
      socket.once("close", () => closed.resolve());
    });
    const delivery = { ...DELIVERY, url: `http://127.0.0.1:${receiver.port}/` };
    const connections = createConnections();

    await send(delivery, { ...OPTIONS, connections });
    await closed.promise;
    const result = await send(delivery, { ...OPTIONS, connections });

    await connections.close();
    expect(result).toMatchObject(success(200));
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

  test.each<[cert: string, host: string, options: SendOptions, error: string | null, unsafe?: boolean]>([
    ["receiver.pem", "127.0.0.1", trusting, null],
    ["receiver.pem", "hooks.example.com", trusting, null],
    ["expired.pem", "127.0.0.1", trusting, "the certificate has expired"],
    ["expired.pem", "127.0.0.1", trusting, "the certificate has expired", true],
    ["other.pem", "hooks.example.com", trusting, "the certificate is for another host"],
    ["receiver.pem", "127.0.0.1", OPTIONS, "the certificate's issuer is not trusted"],
  ])(
    "%s of %s is taken or refused, whatever the environment says",
    async (cert, host, options, error, unsafe) => {
      await using receiver = await startReceiver(undefined, { tls: { key, cert: pem(cert) } });
      const { port } = new URL(receiver.url);
      if (unsafe) process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
      onTestFinished(() => void delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);

      const result = await send({ ...DELIVERY, url: `https://${host}:${port}/` }, options);

      expect(result.error).toBe(error);
      expect(receiver.received.length).toBe(error === null ? 1 : 0);
    },
  );
});
