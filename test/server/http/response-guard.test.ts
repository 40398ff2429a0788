import { Readable } from "node:stream";
import express, { type Response as ExpressResponse } from "express";
import { sql } from "kysely";
import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import * as contracts from "../../../server/contract/document.ts";
import type { EventStream } from "../../../server/contract/operations.ts";
import { compileResponseValidators } from "../../../server/contract/validate-response.ts";
import type { HttpResponse } from "../../../server/http/middleware/request-locals.ts";
import { logRequests } from "../../../server/http/middleware/request-log.ts";
import { guardResponses } from "../../../server/http/middleware/response-guard.ts";
import { sendJson, sendResponse } from "../../../server/http/middleware/send-response.ts";
import { refundOf } from "../../helpers/factories.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { post, startTestServer } from "../../helpers/server.ts";

/** Of a server with the responses of a test, behind the guard. */
let url: string;
let respond: (response: ExpressResponse) => void;
const logLines: string[] = [];

beforeAll(async () => {
  const logger = pino({}, { write: (line: string) => logLines.push(line) });
  const documents = [await contracts.readContract("openapi"), await contracts.readContract("sandbox")];
  const app = express();
  app.use(logRequests(logger, () => null));
  app.use(
    guardResponses(
      documents.map((document) => compileResponseValidators(document)),
      logger,
    ),
  );
  app.use((_request, response) => respond(response));
  const server = await serveLocally(app);
  url = server.url;
  return () => server[Symbol.asyncDispose]();
});

async function call(
  { method, path }: { method: string; path: string },
  send: (response: ExpressResponse) => void,
) {
  respond = send;
  const response = await fetch(url + path.replaceAll(/\{\w+\}/g, "some"), { method });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

type Called = Awaited<ReturnType<typeof call>>;

/** Expects `INTERNAL_ERROR`, and the rejected response only in the log. */
function expectReplaced({ status, headers, body }: Called, fault: RegExp): void {
  expect([status, headers.get("content-type")]).toEqual([500, "application/problem+json"]);
  expect(Object.keys(body)).toEqual(["type", "title", "status", "detail", "instance", "errorDetails"]);
  expect(body.errorDetails.errorCode).toBe("INTERNAL_ERROR");
  expect(headers.get("www-authenticate") ?? headers.get("retry-after") ?? headers.get("location")).toBeNull();
  const requestId = body.instance.slice("urn:uuid:".length);
  const entry = logLines.find((line) => line.includes(requestId) && line.includes("replaced a response"));
  expect(JSON.parse(entry ?? "{}").errors.join("; ")).toMatch(fault);
}

const cases = (["openapi", "sandbox"] as const).flatMap((name) =>
  readContract(name).operations.flatMap((operation) =>
    operation.statuses.map((status) => {
      const examples = operation.responses.filter((response) => response.status === status);
      return { ...operation, status, body: examples[0]?.value as object | undefined };
    }),
  ),
);

/** Express would add a charset to what `type` sets. */
function typed(response: ExpressResponse, type = "application/json"): ExpressResponse {
  response.setHeader("Content-Type", type);
  return response;
}

function without(response: ExpressResponse, header: string): ExpressResponse {
  response.removeHeader(header);
  return response;
}

function sendInParts(response: ExpressResponse, parts: readonly string[]): void {
  for (const part of parts) response.write(part);
  response.end();
}

function sendHeadFirst(response: ExpressResponse, text: string): void {
  response.flushHeaders();
  response.end(text);
}

/** The headers that the contract requires of some responses. */
const HEADERS: Record<number, Record<string, string>> = {
  401: { "WWW-Authenticate": "Bearer" },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

describe.each(cases.filter(({ body }) => body !== undefined))("$method $path, $status", (given) => {
  const { status, body = {} } = given;
  const type = status < 400 ? "application/json" : "application/problem+json";
  const required = HEADERS[status] ?? {};
  const begin = (response: ExpressResponse) => typed(response.status(status).set(required), type);
  const [first = ""] = Object.keys(body);

  test("passes as documented", async () => {
    const sent = await call(given, (response) => begin(response).end(JSON.stringify(body)));

    expect([sent.status, sent.body]).toEqual([status, body]);
  });

  /** @decision D32 */
  test("is replaced when anything is not as documented", async () => {
    const broken: [(response: ExpressResponse) => unknown, RegExp][] = [
      [(to) => begin(to).end(JSON.stringify({ ...body, [first]: undefined })), /body.* required property/],
      [
        (to) => begin(to).end(JSON.stringify({ ...body, surplus: 1 })),
        /must NOT have (additional|unevaluated) properties|must match/,
      ],
      [(to) => begin(to).end(JSON.stringify({ ...body, [first]: [0] })), /body\//],
      [(to) => begin(to).end(JSON.stringify([body])), /body must be object|body must match/],
      [(to) => begin(to).json(body), /json; charset=utf-8 is not documented/],
      [(to) => begin(to).end("<p>sorry</p>"), /not JSON/],
      [(to) => begin(to).end(), /not JSON/],
      [(to) => begin(to).type("text/plain").send(JSON.stringify(body)), /text\/plain/],
      [(to) => without(begin(to), "Content-Type").end("{}"), /\(none\)/],
      ...Object.keys(required).map((name): [(response: ExpressResponse) => unknown, RegExp] => [
        (to) => without(begin(to), name).end(JSON.stringify(body)),
        new RegExp(`header ${name} is missing`),
      ]),
    ];
    for (const [send, fault] of broken) expectReplaced(await call(given, send), fault);
  });
});

describe("a response to an operation is replaced", () => {
  const refund = { method: "POST", path: "/v1/refunds" };
  const wrong = JSON.stringify({ paymentId: "rfd_1" });
  const head = { "Content-Type": "application/json" };

  test.each([200, 204, 302, 418, 422, 502])(
    "when its status is %i, which is not documented",
    async (status) => {
      const sent = await call(refund, (response) => response.status(status).location("/elsewhere").json({}));

      expectReplaced(sent, new RegExp(`status ${status} is not documented`));
    },
  );

  test("when a header has a value that is not documented", async () => {
    const { body = {} } = cases.find(({ status }) => status === 503) ?? {};
    const sent = await call(refund, (response) =>
      typed(response.status(503).set("Retry-After", "soon"), "application/problem+json").end(
        JSON.stringify(body),
      ),
    );

    expectReplaced(sent, /header Retry-After must be integer/);
  });

  test("when it has a body, and none is documented", async () => {
    const reset = { method: "POST", path: "/sandbox/reset" };
    const empty = await call(reset, (response) => response.status(204).end());

    // Node itself sends no body with 204, so the Content-Type would be wrong.
    expect(empty.status).toBe(204);
    expectReplaced(await call(reset, (response) => response.writeHead(204).end("{}")), /has a body/);
  });

  test.each<[string, (response: ExpressResponse) => unknown]>([
    ["json", (to) => sendJson(to.status(201), "application/json", JSON.parse(wrong))],
    ["send", (to) => typed(to.status(201)).send(Buffer.from(wrong))],
    ["end", (to) => to.writeHead(201, head).end(wrong)],
    ["a list of headers", (to) => to.writeHead(201, Object.entries(head).flat()).end(wrong)],
    ["a reason", (to) => to.writeHead(201, "Yes", head).end(wrong)],
    ["parts", (to) => sendInParts(to.writeHead(201, head), [wrong.slice(0, 9), wrong.slice(9)])],
    ["a head first", (to) => sendHeadFirst(typed(to.status(201)), wrong)],
    ["a stream", (to) => Readable.from([wrong]).pipe(typed(to.status(201)))],
  ])("whichever way it is sent: by %s", async (_, send) => {
    expectReplaced(await call(refund, send), /body must have required property/);
  });

  test("when it is the head of a stream, which then never begins", async () => {
    let begun = false;
    const clock = { method: "GET", path: "/sandbox/clock" };
    const sent = await call(clock, (response) => {
      const stream = () => {
        begun = true;
        return () => {};
      };
      // Express's types don't include the members that the log has added to the response.
      sendResponse(response.req, response as HttpResponse, { status: 200, stream });
    });

    expectReplaced(sent, /event-stream is not documented/);
    expect(begun).toBe(false);
  });

  test("and passes whichever way it is sent, and its callbacks run", async () => {
    const whole = JSON.stringify({ paymentId: "rfd_1", paymentStatus: "PENDING", clientReferenceId: null });
    const notified: string[] = [];
    const sent = await call(refund, (response) => {
      response.writeHead(201, head);
      response.write(Buffer.from(whole.slice(0, 9)), () => notified.push("written"));
      response.end(whole.slice(9), "utf8", () => notified.push("ended"));
    });

    expect([sent.status, JSON.stringify(sent.body), notified]).toEqual([201, whole, ["written", "ended"]]);
  });
});

test("a stream is cut off when its reader falls behind, and not before", async () => {
  const streamOf = (bytes: number) => {
    respond = (response) => {
      const stream: EventStream = (send, end) => {
        send("x".repeat(bytes));
        end();
        return () => {};
      };
      sendResponse(response.req, response as HttpResponse, { status: 200, stream });
    };
    return fetch(`${url}/sandbox/changes`).then((response) => response.text());
  };

  expect(await streamOf(60_000)).toHaveLength("event: change\ndata: \n\n".length + 60_000);
  // More than the system takes at once for a reader.
  await expect(streamOf(50_000_000)).rejects.toThrow("terminated");
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
      msg: "replaced a response that the contract does not allow",
      status: 409,
      errors: ["body/existing/clientReferenceId must NOT have more than 255 characters"],
    }),
  );
});
