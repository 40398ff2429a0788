import { pino } from "pino";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { readDocument } from "../../../../server/contract/contract-document.ts";
import {
  compileResponseValidators,
  type FindResponseValidator,
} from "../../../../server/contract/validate-response.ts";
import { createHttpServer } from "../../../../server/http/http-server.ts";
import { refuseOverload } from "../../../../server/http/overload.ts";
import { checkHost, checkPlainHead } from "../../../../server/http/request-head.ts";
import { readSecurityHeaders } from "../../../../server/http/security-headers.ts";
import type { Refusal, RequestOutcome } from "../../../../server/observability/observer.ts";
import { exchange, head, openConnection } from "../../../helpers/network/raw-http.ts";

/** The status of the app behind, which the contract does not know. */
const PASSED_ON = 299;

/** How long a merchant with too many requests under way waits for a refusal. */
const PAUSE_MS = 200;

const SLOT = { assign() {}, leave() {}, run: <Result>(work: () => Promise<Result>) => work() };

/** Of a server without room for further requests, unless a test says otherwise. */
let url: string;
let findValidator: FindResponseValidator;
const state: { refusal: Refusal | undefined; isDraining: boolean } = { refusal: "full", isDraining: false };
/** How many requests to the contract's operations Node has parsed. */
let parsed: number;
const observed: RequestOutcome[] = [];
const logged: { level: number; refused: number; msg: string }[] = [];
const log = { write: (line: string) => void logged.push(JSON.parse(line)) };

beforeAll(async () => {
  const published = readDocument("openapi");
  const { paths } = readDocument("sandbox");
  const document = { ...published, paths: { ...published.paths, ...paths } };
  findValidator = compileResponseValidators(published);
  const listener = refuseOverload((_request, response) => response.writeHead(PASSED_ON).end(), {
    document,
    concurrency: {
      refusalOf: () => state.refusal,
      enter() {
        parsed += 1;
        return state.refusal ?? SLOT;
      },
    },
    isDraining: () => state.isDraining,
    headChecks: [checkHost, checkPlainHead],
    observe: (outcome) => observed.push(outcome),
    onRefused: () => {},
    logger: pino({}, log),
  });
  const logger = pino({ level: "silent" });
  const times = { headTimeoutMs: 10_000, drainMs: 0, stopDelaySeconds: 0 };
  const server = createHttpServer({ host: "127.0.0.1", port: 0, maxConnections: 100, logger, ...times });
  await server.start(listener);
  url = server.url();
  return () => server.stop();
});
beforeEach(() => {
  parsed = 0;
  Object.assign(state, { refusal: "full", isDraining: false });
  observed.length = 0;
});

const REFUND = "/v1/refunds";

/** Sends pieces after a call that was refused, on the same connection, and resolves with the response to the last of them. */
async function sendNext(text: string, now: Partial<typeof state> = {}) {
  using connection = await openConnection(url);
  connection.send(head(REFUND));
  const first = await connection.response();
  Object.assign(state, now);
  observed.length = 0;
  connection.send(text);
  return { first, next: await connection.response() };
}

test.each([
  ["application/json", "application/json"],
  ["application/json, application/problem+json", "application/problem+json"],
  ["*/*", "application/problem+json"],
  ["text/xml", "application/problem+json"],
  [null, "application/problem+json"],
])("a refusal to a caller with Accept: %s is the documented problem as %s", async (Accept, type) => {
  const { status, headers, body } = await exchange(url, head(REFUND, { Accept }));

  const text = JSON.stringify(body);
  const errors = findValidator("POST", REFUND)?.({ status, header: (name) => headers[name], text });
  expect(errors).toEqual([]);
  expect([status, headers["content-type"], headers["retry-after"]]).toEqual([503, type, "1"]);
  expect(body).toMatchObject({ status: 503, errorDetails: { errorCode: "UNAVAILABLE" } });
  for (const [name, value] of readSecurityHeaders()) expect(headers[name.toLowerCase()]).toBe(value);
});

test.each([
  ["another path", head("/v1/refund"), {}],
  ["another method", head(`PUT ${REFUND}`), {}],
  ["no Host", head(REFUND, { Host: null }), {}],
  ["two Hosts", head(REFUND, { Host: "a\r\nHost: b" }), {}],
  ["two access tokens", head(REFUND, { Authorization: "Bearer a\r\nAuthorization: Bearer b" }), {}],
  ["a server that drains", head(REFUND), { isDraining: true }],
  ["a server with room", head(REFUND), { refusal: undefined }],
])("an overloaded server's quick refusal leaves this to the app: %s", async (_case, text, now) => {
  expect((await sendNext(text, now)).next.status).toBe(PASSED_ON);
  expect((await exchange(url, text)).status).toBe(PASSED_ON);
  expect(observed).toEqual([]);
});

test("a second call on a connection is refused in the same way before Node parses it", async () => {
  const { first, next } = await sendNext(`${head(REFUND, { "Content-Length": 2 })}{}`);

  expect([parsed, observed.length]).toEqual([1, 1]);
  const date = expect.any(String);
  expect(next).toEqual({
    status: first.status,
    headers: { ...first.headers, date },
    body: { ...Object(first.body), instance: expect.not.stringMatching(Object(first.body).instance) },
  });
});

test.each([
  ["two calls at once", head(REFUND) + head(REFUND)],
  ["a part of a call", head(REFUND, { "Content-Length": 2 })],
  ["two codings", `${head(REFUND, { "Transfer-Encoding": "chunked", "Content-Length": 5 })}0\r\n\r\n`],
  ["two lengths", head(REFUND, { "Content-Length": "0\r\nContent-Length: 0" })],
  ["a caller who closes the connection", head(REFUND, { Connection: "close" })],
  ["a control character", head(REFUND, { "X-Name": "\x01" })],
  ["a target with a query", head(`${REFUND}?a=b`)],
])("leaves the bytes of a second call to Node: %s", async (_case, text) => {
  const { status, headers } = (await sendNext(text)).next;

  expect([503, 400]).toContain(status);
  expect(parsed > 1 || headers.connection === "close").toBe(true);
});

test("a body that reads like a call gets no response", async () => {
  using connection = await openConnection(url);
  for (const text of [head(REFUND), head(REFUND, { "Content-Length": head(REFUND).length })]) {
    connection.send(text);
    await connection.response();
  }
  connection.send(head(REFUND));
  connection.send(head(REFUND));

  expect((await connection.response()).status).toBe(503);
  expect(parsed).toBe(3);
});

test("a merchant with too many requests under way waits for its refusals", async () => {
  const startedAt = performance.now();

  const { next } = await sendNext(head(REFUND), { refusal: "merchant full" });

  expect(next.status).toBe(503);

  expect(performance.now() - startedAt).toBeGreaterThan(PAUSE_MS - 10);
  expect(observed).toEqual([{ route: REFUND, status: 503, milliseconds: PAUSE_MS }]);
});

test("refusals are counted under the route, and logged by their number rather than one by one", async () => {
  logged.length = 0;
  const CALLS = 20;

  await Promise.all(Array.from({ length: CALLS }, () => exchange(url, head("/v1/webhook/subscribe"))));
  const outcome = { route: "/v1/webhook/subscribe", status: 503, milliseconds: 0 };
  expect(observed).toEqual(Array(CALLS).fill(outcome));
  const counted = () => logged.reduce((total, { refused }) => total + refused, 0);
  await expect.poll(counted).toBeGreaterThanOrEqual(CALLS);

  expect(logged.length).toBeLessThan(CALLS);
  expect(logged.at(-1)).toMatchObject({ level: 40, msg: expect.stringMatching(/^refused \d+ calls?, /) });
});
