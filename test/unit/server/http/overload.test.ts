import { createServer } from "node:http";
import { pino } from "pino";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { readDocument } from "../../../../server/contract/contract-document.ts";
import {
  compileResponseValidators,
  type FindResponseValidator,
} from "../../../../server/contract/validate-response.ts";
import { refuseOverload } from "../../../../server/http/overload.ts";
import { checkHost, checkPlainHead } from "../../../../server/http/request-head.ts";
import { readSecurityHeaders } from "../../../../server/http/security-headers.ts";
import type { Refusal, RequestOutcome } from "../../../../server/observability/observer.ts";
import { listenLocally } from "../../../helpers/network/local-server.ts";
import { exchange, head } from "../../../helpers/network/raw-http.ts";

/** The status of the app behind, which the contract does not know. */
const PASSED_ON = 299;

/** How long a merchant with too many requests under way waits for a refusal. */
const PAUSE_MS = 200;

const SLOT = { assign() {}, leave() {}, run: <Result>(work: () => Promise<Result>) => work() };

/** Of a server without room for further requests, unless a test says otherwise. */
let url: string;
let findValidator: FindResponseValidator;
const state: { refusal: Refusal | undefined; isDraining: boolean } = { refusal: "full", isDraining: false };
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
    concurrency: { enter: () => state.refusal ?? SLOT },
    isDraining: () => state.isDraining,
    headChecks: [checkHost, checkPlainHead],
    observe: (outcome) => observed.push(outcome),
    onRefused: () => {},
    logger: pino({}, log),
  });
  const server = await listenLocally(createServer({ requireHostHeader: false }, listener));
  url = server.url;
  return () => server[Symbol.asyncDispose]();
});
beforeEach(() => {
  Object.assign(state, { refusal: "full", isDraining: false });
  observed.length = 0;
});

const REFUND = "/v1/refunds";

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
])("goes on to the app: %s", async (_case, text, now) => {
  Object.assign(state, now);

  expect((await exchange(url, text)).status).toBe(PASSED_ON);
  expect(observed).toEqual([]);
});

test("a merchant with too many requests under way waits for its refusals", async () => {
  state.refusal = "merchant full";
  const startedAt = performance.now();

  expect((await exchange(url, head(REFUND))).status).toBe(503);

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
