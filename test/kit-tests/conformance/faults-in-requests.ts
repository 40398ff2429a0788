/** Faults of a service in how it reads requests, each with the check that must find it. */
import { randomUUID } from "node:crypto";
import {
  inCalls,
  inMember,
  jsonOf,
  type Planted,
  problem,
  REFUNDS,
  SUBSCRIBE,
  withHeaders,
} from "./fault-builders.ts";
import type { Call, Fault } from "./faulty-server.ts";

const OWNER = "Bearer sandbox_acme";
const always = () => true;

/** Faults in the handling of calls, one at a time. */
export const FAULTY_CALLS: Planted = {
  "makes a second refund of the same call": [
    "key.identical-repeat",
    inMember(REFUNDS, "requestKey", () => randomUUID()),
  ],
  "uses up the requestKey of a refused call": ["key.free-after-refusal", usingUpKeys()],
  "shares requestKeys among merchants": ["key.of-one-merchant", sharingKeys()],
  "accepts amounts with three digits after the point": [
    "amount.three-decimals",
    inText(/("value":\d+\.\d\d)\d+/, "$1"),
  ],
  "reads over a byte order mark": ["body.bom", inText(/^\uFEFF/, "")],
  "takes a bare text for a list of details": [
    "subscription.bare-string",
    inText(/"details":("[\w.]+")/, '"details":[$1]'),
  ],
  "delivers to addresses inside the network": [
    "subscription.forbidden-target",
    inText(/"url":"http:\/\/169\.254\.169\.254\/"/, '"url":"https://merchant.example.com/"'),
  ],
  "signs deliveries with another secret": [
    "delivery.signature",
    inMember(SUBSCRIBE, "secretKey", (secret) => `${secret}A`),
  ],
  "names another requestKey in events": [
    "delivery.event",
    inMember(REFUNDS, "requestKey", (key) => `${key}-2`),
  ],
  "sends the trace of another call": [
    "delivery.trace",
    inCalls(
      ({ headers }) => headers.traceparent !== undefined,
      withHeaders({ traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }),
    ),
  ],
  "delivers every event whatever was selected": [
    "delivery.selection",
    inText(/"type":"EVENT","details":\["refund\.terminal_failed"\]/, '"type":"ALL"'),
  ],
  "never delivers": ["delivery.arrives", neverDelivering(), { silent: true }],
  "serves what does not accept JSON": [
    "accept.no-json",
    inCalls(always, withHeaders({ accept: "application/json" })),
  ],
  "reads every body as JSON, whatever it is declared as": [
    "broken.issueRefund-content",
    inCalls(
      ({ headers }) => headers["content-type"] !== undefined,
      withHeaders({ "content-type": "application/json" }),
    ),
  ],
  "serves paths with a slash at their end": [
    "path.trailing-slash",
    inCalls(always, (call) => ({ ...call, path: call.path.replace(/\/$/, "") })),
  ],
  "takes every token for a good one": [
    "access.unknown-token",
    inCalls(
      ({ headers }) => headers.authorization?.startsWith("Bearer conform-") ?? false,
      withHeaders({ authorization: OWNER }),
    ),
  ],
  "checks the body before the token": ["order.head", bodyBeforeToken()],
  "never responds to a body that is too large": [
    "body.too-large",
    (call, forward) => (call.body.length === 64 * 1024 + 1 ? new Promise(() => {}) : forward(call)),
    { silent: true },
  ],
};

/** Changes the text of bodies where it matches, and leaves all others as they are, byte for byte. */
function inText(pattern: RegExp, replacement: string): Fault {
  return inCalls(
    ({ body }) => pattern.test(body.toString("utf8")),
    (call) => ({ ...call, body: Buffer.from(call.body.toString("utf8").replace(pattern, replacement)) }),
  );
}

function neverDelivering(): Fault {
  return inText(/"url":"http:\/\/127\.0\.0\.1:\d+/, '"url":"http://127.0.0.1:9');
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
    const asKnown = withHeaders({ authorization: OWNER, accept: json, "content-type": json });
    const known = await forward(asKnown(call));
    return known.status === 400 || known.status === 413 ? known : response;
  };
}
