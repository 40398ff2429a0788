import { randomUUID } from "node:crypto";
import type { Call, Fault } from "./faulty-server.ts";
import {
  inBodies,
  inCalls,
  isObject,
  type Json,
  jsonOf,
  type Planted,
  problem,
  REFUNDS,
  SUBSCRIBE,
  withHeaders,
  withJson,
  without,
} from "./faulty-server-parts.ts";

const OWNER = "Bearer sandbox_acme";

/** Faults in the handling of calls, one at a time. */
export const FAULTY_CALLS: readonly Planted[] = [
  {
    name: "makes a second refund of the same call",
    check: "key.identical-repeat",
    fault: inBodies(REFUNDS, (refund) =>
      typeof refund.requestKey === "string" ? { ...refund, requestKey: randomUUID() } : refund,
    ),
  },
  {
    name: "takes requestKeys for the same that differ in case",
    check: "key.byte-for-byte",
    fault: inBodies(REFUNDS, (refund) =>
      typeof refund.requestKey === "string"
        ? { ...refund, requestKey: refund.requestKey.toLowerCase() }
        : refund,
    ),
  },
  { name: "uses up the requestKey of a refused call", check: "key.free-after-refusal", fault: usingUpKeys() },
  { name: "shares requestKeys among merchants", check: "key.of-one-merchant", fault: sharingKeys() },
  {
    name: "takes amounts with three digits after the point",
    check: "amount.three-decimals",
    fault: inText(/("value":\d+\.\d\d)\d+/, "$1"),
  },
  {
    name: "takes amounts that are texts",
    check: "amount.string",
    fault: inText(/"value":"(\d+(\.\d+)?)"/, '"value":$1'),
  },
  {
    name: "takes any amount with an exponent",
    check: "amount.exponent",
    fault: inText(/"value":1[eE]1/, '"value":10'),
  },
  {
    name: "takes every currency for USD",
    check: "amount.currency",
    fault: inText(/"currency":"EUR"/, '"currency":"USD"'),
  },
  {
    name: "ignores fields that it does not know",
    check: "body.unknown-field",
    fault: inBodies(REFUNDS, (refund) => without(refund, "status")),
  },
  {
    name: "reads the last of two equal keys",
    check: "body.duplicate-keys",
    fault: inCalls(
      (call) => Object.keys(jsonOf(call)).length > 0,
      (call) => withJson(call, jsonOf(call)),
    ),
  },
  { name: "reads over a byte order mark", check: "body.bom", fault: inText(/^\uFEFF/, "") },
  {
    name: "does not know the misspelt reference",
    check: "reference.misspelling-accepted",
    fault: inBodies(REFUNDS, (refund) => without(refund, "clientRefefenceId")),
  },
  {
    name: "refuses a softDescriptor of 80 characters",
    check: "descriptor.accepted",
    fault: async (call, forward) =>
      String(jsonOf(call).softDescriptor).length === 80 ? problem(400, "INVALID_REQUEST") : forward(call),
  },
  {
    name: "takes a bare text for a list of details",
    check: "subscription.bare-string",
    fault: inBodies(SUBSCRIBE, ({ subscriptionDetails, ...rest }) => ({
      ...rest,
      subscriptionDetails: withList(subscriptionDetails),
    })),
  },
  {
    name: "delivers to addresses inside the network",
    check: "subscription.forbidden-target",
    fault: inText(/"url":"http:\/\/169\.254\.169\.254\/"/, '"url":"https://merchant.example.com/"'),
  },
  {
    name: "signs deliveries with another secret",
    check: "delivery.signature",
    fault: inBodies(SUBSCRIBE, (json) =>
      typeof json.secretKey === "string" ? { ...json, secretKey: `${json.secretKey}A` } : json,
    ),
  },
  {
    name: "delivers every event whatever was selected",
    check: "delivery.selection",
    fault: inText(/"type":"EVENT","details":\["refund\.terminal_failed"\]/, '"type":"ALL"'),
  },
  {
    name: "never delivers",
    check: "delivery.arrives",
    silent: true,
    fault: inText(/"url":"http:\/\/127\.0\.0\.1:\d+/, '"url":"http://127.0.0.1:9'),
  },
  {
    name: "serves what does not accept JSON",
    check: "accept.no-json",
    fault: inCalls(
      () => true,
      (call) => withHeaders(call, { accept: "application/json" }),
    ),
  },
  {
    name: "reads every body as JSON, whatever it is declared as",
    check: "content-type.other",
    fault: inCalls(
      ({ headers }) => headers["content-type"] !== undefined,
      (call) => withHeaders(call, { "content-type": "application/json" }),
    ),
  },
  {
    name: "serves paths with a slash at their end",
    check: "path.trailing-slash",
    fault: inCalls(
      () => true,
      (call) => ({ ...call, path: call.path.replace(/\/$/, "") }),
    ),
  },
  {
    name: "serves paths in any case",
    check: "path.case",
    fault: inCalls(
      () => true,
      (call) => ({ ...call, path: call.path.toLowerCase() }),
    ),
  },
  {
    name: "takes every token for a good one",
    check: "access.unknown-token",
    fault: inCalls(
      ({ headers }) => headers.authorization?.startsWith("Bearer conform-") ?? false,
      (call) => withHeaders(call, { authorization: OWNER }),
    ),
  },
  { name: "checks the body before the token", check: "order.head", fault: bodyBeforeToken() },
  {
    name: "never responds to a body that is too large",
    check: "body.too-large",
    silent: true,
    fault: (call, forward) => (call.body.length === 64 * 1024 + 1 ? new Promise(() => {}) : forward(call)),
  },
];

/** Changes the text of bodies where it matches, and leaves all others as they are, byte for byte. */
function inText(pattern: RegExp, replacement: string): Fault {
  return inCalls(
    ({ body }) => pattern.test(body.toString("utf8")),
    (call) => ({ ...call, body: Buffer.from(call.body.toString("utf8").replace(pattern, replacement)) }),
  );
}

function withList(details: unknown): unknown {
  return isObject(details) && typeof details.details === "string"
    ? ({ ...details, details: [details.details] } satisfies Json)
    : details;
}

function usingUpKeys(): Fault {
  const used = new Set<unknown>();
  return async (call, forward) => {
    const { requestKey } = jsonOf(call);
    if (used.has(requestKey)) return problem(409, "DUPLICATE_REQUEST_KEY");
    const response = await forward(call);
    if (requestKey !== undefined && response.status === 404) used.add(requestKey);
    return response;
  };
}

function sharingKeys(): Fault {
  const owners = new Map<unknown, string | undefined>();
  return async (call, forward) => {
    const { requestKey } = jsonOf(call);
    const { authorization } = call.headers;
    const owner = owners.get(requestKey) ?? authorization;
    if (requestKey !== undefined && owner !== authorization) return problem(409, "DUPLICATE_REQUEST_KEY");
    owners.set(requestKey, authorization);
    return forward(call);
  };
}

function bodyBeforeToken(): Fault {
  return async (call: Call, forward) => {
    const response = await forward(call);
    if (response.status !== 401) return response;
    const json = "application/json";
    const known = await forward(
      withHeaders(call, { authorization: OWNER, accept: json, "content-type": json }),
    );
    return known.status === 400 || known.status === 413 ? known : response;
  };
}
