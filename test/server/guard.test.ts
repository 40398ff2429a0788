import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import express, { type Response as Answer } from "express";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { compileAnswerChecks } from "../../server/http/answer-check.ts";
import * as contracts from "../../server/http/contract.ts";
import { trackRequests } from "../../server/http/envelope.ts";
import { guardAnswers } from "../../server/http/guard.ts";
import { post, startTestServer } from "../helpers/server.ts";
import { refundOf } from "./given.ts";

/** A server that answers whatever a test says, behind the guard. */
let server: Server;
let url: string;
let answer: (response: Answer) => void;
const logLines: string[] = [];

beforeAll(async () => {
  const logger = pino({}, { write: (line: string) => logLines.push(line) });
  const documents = [await contracts.readContract("openapi"), await contracts.readContract("sandbox")];
  const app = express();
  app.use(trackRequests(logger));
  app.use(guardAnswers(documents.map(compileAnswerChecks), logger));
  app.use((_request, response) => answer(response));
  server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function call({ method, path }: { method: string; path: string }, send: (response: Answer) => void) {
  answer = send;
  const response = await fetch(url + path.replaceAll(/\{\w+\}/g, "some"), { method });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

type Called = Awaited<ReturnType<typeof call>>;

/** Expects `INTERNAL_ERROR`, and nothing of what was held back but in the log. */
function expectHeldBack({ status, headers, body }: Called, fault: RegExp): void {
  expect([status, headers.get("content-type")]).toEqual([500, "application/problem+json; charset=utf-8"]);
  expect(Object.keys(body)).toEqual(["type", "title", "status", "detail", "instance", "errorDetails"]);
  expect(body.errorDetails.errorCode).toBe("INTERNAL_ERROR");
  expect(headers.get("www-authenticate") ?? headers.get("retry-after") ?? headers.get("location")).toBeNull();
  const requestId = body.instance.slice("urn:uuid:".length);
  const entry = logLines.find((line) => line.includes(requestId) && line.includes("held back"));
  expect(JSON.parse(entry ?? "{}").faults.join("; ")).toMatch(fault);
}

const cases = (["openapi", "sandbox"] as const).flatMap((name) =>
  readContract(name).operations.flatMap((operation) =>
    operation.statuses.map((status) => {
      const examples = operation.responses.filter((response) => response.status === status);
      return { ...operation, status, body: examples[0]?.value as object | undefined };
    }),
  ),
);

function without(response: Answer, header: string): Answer {
  response.removeHeader(header);
  return response;
}

function sendInParts(response: Answer, parts: readonly string[]): void {
  for (const part of parts) response.write(part);
  response.end();
}

function sendHeadFirst(response: Answer, text: string): void {
  response.flushHeaders();
  response.end(text);
}

/** What the contract asks of some answers beside their body. */
const HEADERS: Record<number, Record<string, string>> = {
  401: { "WWW-Authenticate": "Bearer" },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

describe.each(cases.filter(({ body }) => body !== undefined))("$method $path, $status", (given) => {
  const { status, body = {} } = given;
  const type = status < 400 ? "application/json" : "application/problem+json";
  const required = HEADERS[status] ?? {};
  const begin = (response: Answer) => response.status(status).set(required).type(type);
  const [first = ""] = Object.keys(body);

  test("passes as documented", async () => {
    const sent = await call(given, (response) => begin(response).json(body));

    expect([sent.status, sent.body]).toEqual([status, body]);
  });

  test("is held back when anything is not as documented", async () => {
    const broken: [(response: Answer) => unknown, RegExp][] = [
      [(to) => begin(to).json({ ...body, [first]: undefined }), /body.* required property/],
      [
        (to) => begin(to).json({ ...body, surplus: 1 }),
        /must NOT have (additional|unevaluated) properties|must match/,
      ],
      [(to) => begin(to).json({ ...body, [first]: [0] }), /body\//],
      [(to) => begin(to).json([body]), /body must be object|body must match/],
      [(to) => begin(to).send("<p>sorry</p>"), /not JSON/],
      [(to) => begin(to).end(), /not JSON/],
      [(to) => begin(to).type("text/plain").send(JSON.stringify(body)), /text\/plain/],
      [(to) => without(begin(to), "Content-Type").end("{}"), /\(none\)/],
      ...Object.keys(required).map((name): [(response: Answer) => unknown, RegExp] => [
        (to) => without(begin(to), name).json(body),
        new RegExp(`header ${name} is missing`),
      ]),
    ];
    for (const [send, fault] of broken) expectHeldBack(await call(given, send), fault);
  });
});

describe("an answer to an operation is held back", () => {
  const refund = { method: "POST", path: "/v1/refunds" };
  const wrong = JSON.stringify({ paymentId: "rfd_1" });
  const head = { "Content-Type": "application/json" };

  test.each([200, 204, 302, 418, 422, 502])(
    "when its status is %i, which is not documented",
    async (status) => {
      const sent = await call(refund, (response) => response.status(status).location("/elsewhere").json({}));

      expectHeldBack(sent, new RegExp(`status ${status} is not documented`));
    },
  );

  test("when a header has a value that is not documented", async () => {
    const { body = {} } = cases.find(({ status }) => status === 503) ?? {};
    const sent = await call(refund, (response) => response.status(503).set("Retry-After", "soon").json(body));

    expectHeldBack(sent, /header Retry-After must be integer/);
  });

  test("when it has a body, and none is documented", async () => {
    const reset = { method: "POST", path: "/sandbox/reset" };
    const empty = await call(reset, (response) => response.status(204).end());

    // Node itself sends no body under 204; the type alone would be a lie.
    expect(empty.status).toBe(204);
    expectHeldBack(await call(reset, (response) => response.writeHead(204).end("{}")), /has a body/);
  });

  test.each<[string, (response: Answer) => unknown]>([
    ["json", (to) => to.status(201).json(JSON.parse(wrong))],
    ["send", (to) => to.status(201).type("json").send(wrong)],
    ["end", (to) => to.writeHead(201, head).end(wrong)],
    ["a list of headers", (to) => to.writeHead(201, Object.entries(head).flat()).end(wrong)],
    ["a reason", (to) => to.writeHead(201, "Yes", head).end(wrong)],
    ["parts", (to) => sendInParts(to.writeHead(201, head), [wrong.slice(0, 9), wrong.slice(9)])],
    ["a head first", (to) => sendHeadFirst(to.status(201).type("json"), wrong)],
    ["a stream", (to) => Readable.from([wrong]).pipe(to.status(201).type("json"))],
  ])("whichever way it is sent: by %s", async (_, send) => {
    expectHeldBack(await call(refund, send), /body must have required property/);
  });

  test("and passes whichever way it is sent, with what its sender is told", async () => {
    const whole = JSON.stringify({ paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null });
    const told: string[] = [];
    const sent = await call(refund, (response) => {
      response.writeHead(201, head);
      response.write(Buffer.from(whole.slice(0, 9)), () => told.push("written"));
      response.end(whole.slice(9), "utf8", () => told.push("ended"));
    });

    expect([sent.status, JSON.stringify(sent.body), told]).toEqual([201, whole, ["written", "ended"]]);
  });
});

test("a path that the contract does not have is none of its business", async () => {
  const sent = await call({ method: "POST", path: "/v1/elsewhere" }, (response) =>
    response.status(418).json(1),
  );

  expect([sent.status, sent.body]).toEqual([418, 1]);
});

test("the guard is on in the sandbox", async () => {
  await using sandbox = await startTestServer();
  const refund = refundOf("pay_settled", { clientReferenceId: "order-1" });
  await post(sandbox.url, "/v1/refunds", refund);
  const tooLong = "x".repeat(256);
  await sql`update payments set client_reference_id = ${tooLong}`.execute(sandbox.database.db);

  const repeated = await post<{ instance: string }>(sandbox.url, "/v1/refunds", refund);

  expect([repeated.status, repeated.body]).toMatchObject([
    500,
    { errorDetails: { errorCode: "INTERNAL_ERROR" } },
  ]);
  const requestId = repeated.body.instance.slice("urn:uuid:".length);
  const logged = sandbox.logLines.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line));
  expect(logged).toContainEqual(
    expect.objectContaining({
      msg: "held back an answer that is not as documented",
      status: 409,
      faults: ["body/existing/clientReferenceId must NOT have more than 255 characters"],
    }),
  );
});
