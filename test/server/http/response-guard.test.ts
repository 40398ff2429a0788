/** A response that the contract does not allow never leaves the server. */
import { Readable } from "node:stream";
import express, { type Response as ExpressResponse } from "express";
import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/read-contract.ts";
import * as contracts from "../../../server/contract/contract-document.ts";
import type { EventStream } from "../../../server/contract/operation-types.ts";
import { compileResponseValidators } from "../../../server/contract/validate-response.ts";
import type { HttpResponse } from "../../../server/http/request-locals.ts";
import { logRequests } from "../../../server/http/request-log.ts";
import { guardResponses } from "../../../server/http/response-guard.ts";
import { sendJson, sendResponse } from "../../../server/http/send-response.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";

/** Of a server with the responses of a test, behind the guard. */
let url: string;
let respond: (response: ExpressResponse) => void;
const logLines: string[] = [];

beforeAll(async () => {
  const logger = pino({}, { write: (line: string) => logLines.push(line) });
  const published = compileResponseValidators(contracts.readDocument("openapi"));
  const sandbox = compileResponseValidators(contracts.readDocument("sandbox"));
  const app = express();
  const log = logRequests(logger, () => null);
  const guard = guardResponses((method, path) => published(method, path) ?? sandbox(method, path), logger);
  app.use((request, response) => {
    log(request, response as HttpResponse);
    guard(request, response as HttpResponse);
    respond(response);
  });
  const server = await serveLocally(app);
  url = server.url;
  return () => server[Symbol.asyncDispose]();
});

/** Sends a call, by default for a refund, and lets `send` respond. */
async function call(send: (response: ExpressResponse) => unknown, method = "POST", path = "/v1/refunds") {
  respond = send;
  const response = await fetch(url + path, { method });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** Expects `INTERNAL_ERROR`, and the rejected response only in the log. */
function expectReplaced({ status, headers, body }: Awaited<ReturnType<typeof call>>, fault: RegExp): void {
  expect([status, headers.get("content-type")]).toEqual([500, "application/problem+json"]);
  expect(Object.keys(body)).toEqual(["type", "title", "status", "detail", "instance", "errorDetails"]);
  expect(body.errorDetails.errorCode).toBe("INTERNAL_ERROR");
  expect(headers.get("www-authenticate") ?? headers.get("retry-after") ?? headers.get("location")).toBeNull();
  const requestId = body.instance.slice("urn:uuid:".length);
  const entry = logLines.find((line) => line.includes(requestId) && line.includes("replaced a response"));
  expect(JSON.parse(entry ?? "{}").errors.join("; ")).toMatch(fault);
}

/** Express would add a charset to what `type` sets. */
function typed(response: ExpressResponse, type: string): ExpressResponse {
  response.setHeader("Content-Type", type);
  return response;
}

describe("a response to an operation", () => {
  const responses = readContract("openapi").operation("issueRefund").responses;
  const problem = responses.find(({ status }) => status === 503)?.value as Record<string, unknown>;
  const unavailable = (to: ExpressResponse, headers: object = { "Retry-After": "1" }) =>
    typed(to.status(503).set(headers), "application/problem+json");

  test.each<[string, (to: ExpressResponse) => unknown, RegExp]>([
    ["lacks a field", (to) => unavailable(to).end(toText({ title: undefined })), /body.* required property/],
    ["has another field", (to) => unavailable(to).end(toText({ surplus: 1 })), /NOT have additional/],
    ["has another type", (to) => unavailable(to).end(toText({ title: [0] })), /body\/title must be string/],
    ["is a list", (to) => unavailable(to).end(JSON.stringify([problem])), /body must be object/],
    ["names a charset", (to) => unavailable(to).json(problem), /json; charset=utf-8 is not documented/],
    ["is no JSON", (to) => unavailable(to).end("<p>sorry</p>"), /not JSON/],
    ["is empty", (to) => unavailable(to).end(), /not JSON/],
    ["is text", (to) => unavailable(to).type("text/plain").send(toText({})), /text\/plain/],
    ["has no type", (to) => to.status(503).set("Retry-After", "1").end(toText({})), /\(none\)/],
    ["lacks a header", (to) => unavailable(to, {}).end(toText({})), /header Retry-After is missing/],
    [
      "has a wrong header",
      (to) => unavailable(to, { "Retry-After": "soon" }).end(toText({})),
      /header Retry-After must be integer/,
    ],
    [
      "has an unknown status",
      (to) => to.status(418).location("/elsewhere").json({}),
      /418 is not documented/,
    ],
  ])("is replaced when it %s", async (_name, send, fault) => {
    expectReplaced(await call(send), fault);
  });

  function toText(changed: object): string {
    return JSON.stringify({ ...problem, ...changed });
  }

  const head = { "Content-Type": "application/json" };
  const wrong = JSON.stringify({ paymentId: "rfd_1" });
  const issued = (to: ExpressResponse) => typed(to.status(201), "application/json");
  test.each<[string, (to: ExpressResponse) => unknown]>([
    ["json", (to) => sendJson(to.status(201), "application/json", JSON.parse(wrong))],
    ["send", (to) => issued(to).send(Buffer.from(wrong))],
    ["end", (to) => to.writeHead(201, head).end(wrong)],
    ["a list of headers", (to) => to.writeHead(201, Object.entries(head).flat()).end(wrong)],
    ["a reason", (to) => to.writeHead(201, "Yes", head).end(wrong)],
    ["parts", (to) => [to.writeHead(201, head).write(wrong.slice(0, 9)), to.end(wrong.slice(9))]],
    ["a head first", (to) => [issued(to).flushHeaders(), to.end(wrong)]],
    ["a stream", (to) => Readable.from([wrong]).pipe(issued(to))],
  ])("is replaced whichever way it is sent: by %s", async (_name, send) => {
    expectReplaced(await call(send), /body must have required property/);
  });

  test("is replaced when its headers begin a stream, which is then never sent", async () => {
    let begun = false;
    const stream: EventStream = () => {
      begun = true;
      return () => {};
    };

    expectReplaced(await call(sending(stream), "GET", "/sandbox/clock"), /event-stream is not documented/);
    expect(begun).toBe(false);
  });
});

/** Responds with a stream. Express's types don't include the members that the log has added to the response. */
function sending(stream: EventStream) {
  return (response: ExpressResponse) =>
    sendResponse(response.req, response as HttpResponse, { status: 200, stream });
}

test("a stream is cut off only when its reader falls behind", async () => {
  const streamOf = (bytes: number) => {
    respond = sending((send, end) => {
      send("x".repeat(bytes));
      end();
      return () => {};
    });
    return fetch(`${url}/sandbox/changes`).then((response) => response.text());
  };

  expect(await streamOf(60_000)).toHaveLength("event: change\ndata: \n\n".length + 60_000);
  // More than the system takes at once for a reader.
  await expect(streamOf(50_000_000)).rejects.toThrow("terminated");
});
