import { refundTextRows } from "./refund-texts.ts";
import { BASE_REFUND, refundRows } from "./refunds.ts";
import { type Differences, type OperationId, PATHS, type Row, row } from "./row.ts";
import { BASE_SUBSCRIPTION, subscriptionRows } from "./subscriptions.ts";

/*
 * Rules for the request as a whole: tokens, headers, and the body before its fields are validated.
 */

const PROBLEM = "problem";
const OK: Readonly<Record<OperationId, number>> = { issueRefund: 201, subscribeToWebhooks: 200 };
const SMALLEST: Readonly<Record<OperationId, string>> = {
  issueRefund: JSON.stringify({ ...BASE_REFUND, requestKey: "key-of-text" }),
  subscribeToWebhooks: JSON.stringify(BASE_SUBSCRIPTION),
};
const MEMBERS: Readonly<Record<OperationId, readonly string[]>> = {
  issueRefund: ["/paymentId", "/amount", "/requestKey"],
  subscribeToWebhooks: ["/url", "/secretKey", "/subscriptionDetails"],
};
const KIB = 1024;

const unauthorized = {
  status: 401,
  code: "UNAUTHORIZED",
  headers: { "WWW-Authenticate": /^Bearer\b/i },
} as const;
const forbidden = {
  expected: {
    ...{ status: 403, code: "FORBIDDEN" },
    headers: { "WWW-Authenticate": /^Bearer\b.*\berror="insufficient_scope"/i },
  },
  mock: "knows no scopes",
} as const;
const unsupported = { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" } as const;
const invalid = { status: 400, code: "INVALID_REQUEST" } as const;
const malformed = { ...invalid, pointers: [""] } as const;

/** The same differences under each name, created from the value next to it. */
function each<Value>(
  values: Readonly<Record<string, Value>>,
  toDifferences: (value: Value) => Differences,
): Record<string, Differences> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toDifferences(value)]));
}

function tokensOf(ok: { status: number }): Record<string, Differences> {
  return {
    "a scheme in small letters is fine": {
      headers: { Authorization: "bearer {own}" },
      expected: ok,
      mock: "wants Bearer as written",
      check: "access.scheme-case",
    },
    "no token": { token: "absent", expected: unauthorized, check: "access.no-token" },
    "a token that nobody was given": {
      token: "unknown",
      expected: { ...unauthorized, headers: { "WWW-Authenticate": /^Bearer\b.*\berror="invalid_token"/i } },
      mock: "knows no tokens",
      check: "access.unknown-token",
    },
    ...each({ "another scheme": "Basic YWNtZTphY21l", "a scheme without a token": "Bearer" }, (scheme) => ({
      headers: { Authorization: scheme },
      expected: unauthorized,
      check: "access.other-scheme",
    })),
    "no token, and nothing else is right": {
      token: "absent",
      headers: { "Content-Type": "text/plain", Accept: "text/xml" },
      text: "{",
      expected: { ...unauthorized, type: PROBLEM },
    },
    "a token without scopes": { ...forbidden, token: "unscoped", check: "access.scope" },
    "a token with the other operation's scope": { ...forbidden, token: "other" },
  };
}

/** Values of Accept, and the media type that a problem then has. */
function acceptsOf(served: { status: number }): Record<string, Differences> {
  const broken = { edits: { "": {} }, check: "accept.problem-type" };
  const accepting = (Accept: string | null) => ({ headers: { Accept } });
  const named = (prefix: string, values: readonly (string | null)[], suffix = "") =>
    Object.fromEntries(values.map((accept) => [`${prefix}Accept ${accept}${suffix}`, accept]));
  return {
    ...each(
      named("", [null, "*/*", "application/*", "text/html, application/json;q=0.1"], " is served"),
      (accept) => ({ ...accepting(accept), expected: served, check: "accept.absent-or-wildcard" }),
    ),
    ...each(named("", ["application/json; charset=utf-8"], " is served"), (accept) => ({
      ...accepting(accept),
      expected: served,
    })),
    ...each(
      named("a problem for ", [null, "*/*", "application/*", "application/problem+json, application/json"]),
      (accept) => ({ ...broken, ...accepting(accept), expected: { ...invalid, type: PROBLEM } }),
    ),
    ...each(named("a problem for ", ["application/json", "text/html, application/json;q=0.1"]), (accept) => ({
      ...broken,
      ...accepting(accept),
      expected: invalid,
    })),
    ...each(
      named("", ["text/xml", "text/*", "application/problem+json", "application/json;q=0"], " is not served"),
      (accept) => ({
        ...accepting(accept),
        expected: { status: 406, code: "NOT_ACCEPTABLE", type: PROBLEM },
        mock: "own words for what is not acceptable",
        check: "accept.no-json",
      }),
    ),
  };
}

function mediaTypesOf(ok: { status: number }): Record<string, Differences> {
  const typed = (type: string | null) => ({ headers: { "Content-Type": type } });
  const refused = { expected: unsupported, check: "content-type.other" } as const;
  return {
    ...each(
      {
        "JSON in UTF-8, said so": "application/json; charset=utf-8",
        "JSON, written otherwise": 'Application/JSON;charset="UTF-8"',
      },
      (type) => ({ ...typed(type), expected: ok, check: "content-type.json" }),
    ),
    "no media type": { ...typed(null), ...refused, mock: "misses a body that has no media type" },
    ...each(
      {
        "plain text": "text/plain",
        XML: "application/xml",
        "a form": "application/x-www-form-urlencoded",
      },
      (type) => ({ ...typed(type), ...refused }),
    ),
    "a problem as a body": {
      ...typed("application/problem+json"),
      ...refused,
      mock: "reads all that is like JSON",
    },
    "JSON in UTF-16": {
      ...typed("application/json; charset=utf-16"),
      ...refused,
      mock: "reads no other charset",
    },
    ...each(
      { "compressed JSON": "gzip", "JSON with an encoding that changes nothing": "identity" },
      (encoding) => ({
        headers: { "Content-Encoding": encoding },
        expected: unsupported,
        mock: "reads all that is like JSON",
        check: "content-encoding.any",
      }),
    ),
  };
}

/** Bodies that are refused as a whole: the parser gives up before any field is validated. */
function malformedOf(good: string): Record<string, Differences> {
  const notJson = {
    "half a body": good.slice(0, -1),
    "two bodies": good + good,
    "a comma too many": `${good.slice(0, -1)},}`,
    "only a brace": "{",
    "something after the body": `${good}x`,
    "a comment": good.replace("{", "{/* */"),
    "single quotes": good.replaceAll('"', "'"),
    "a NUL before the body": `\0${good}`,
    "a NUL after the body": `${good}\0`,
    "a raw NUL in a text": inText(good, "\0"),
    "a raw line break in a text": inText(good, "\n"),
    "UTF-16": Buffer.from(good, "utf16le"),
    "lists as deep as 64 KiB allow": "[".repeat(64 * KIB),
    "objects as deep as 64 KiB allow": '{"a":'.repeat(13_000),
  };
  const depth = (levels: number) =>
    good.replace("{", `{"x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)},`);
  const read = { ...invalid, pointers: ["/x"] };
  return {
    "no body": { text: "", expected: malformed, check: "body.malformed" },
    ...each(notJson, (text) => ({
      text,
      expected: malformed,
      mock: "own words for malformed JSON",
      check: "body.malformed",
    })),
    "a key twice": {
      text: good.replace(/^\{("\w+":)/, "{$1null,$1"),
      expected: { ...invalid, pointers: [`/${/\w+/.exec(good)}`] },
      mock: "knows no raw text",
      check: "body.duplicate-keys",
    },
    "a byte order mark": {
      text: `\uFEFF${good}`,
      expected: malformed,
      mock: "own words for malformed JSON",
      check: "body.bom",
    },
    "a body in Latin-1": {
      text: Buffer.from(inText(good, "é"), "latin1"),
      expected: malformed,
      mock: "knows no raw text",
      check: "body.utf-8",
    },
    "a surrogate as bytes": {
      text: Buffer.concat([Buffer.from('"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"')]),
      expected: malformed,
      check: "body.utf-8",
    },
    "32 levels": { text: depth(32), expected: read, check: "body.depth" },
    ...each({ "33 levels": 33, "10,000 levels": 10_000 }, (levels) => ({
      text: depth(levels),
      expected: malformed,
      check: "body.depth",
    })),
  };
}

/** A body with something inserted at the beginning of an unrestricted string. */
function inText(good: string, inserted: string): string {
  return good.replace(/("(?:requestKey|secretKey)":")/, `$1${inserted}`);
}

function sizesOf(id: OperationId, good: string): Record<string, Differences> {
  return {
    "64 KiB": { text: good.padEnd(64 * KIB), expected: { status: OK[id] } },
    "64 KiB that hold no field": {
      text: "{}".padStart(64 * KIB),
      expected: { ...invalid, pointers: MEMBERS[id] },
      check: "body.too-large",
    },
    "a byte more than 64 KiB": {
      text: good.padEnd(64 * KIB + 1),
      expected: { status: 413, code: "PAYLOAD_TOO_LARGE" },
      mock: "knows no raw text",
      check: "body.too-large",
    },
  };
}

/** Methods and paths other than the operation's own. An unknown path needs no token (D08a). */
function addressesOf(id: OperationId): Record<string, Differences> {
  const path = PATHS[id];
  const unknown = (paths: readonly string[], check: string) =>
    each(Object.fromEntries(paths.map((other) => [`the path ${other}`, other])), (other) => ({
      path: other,
      token: "absent",
      expected: { status: 404, code: "NOT_FOUND", noOperation: true },
      check,
    }));
  return {
    ...each(
      { "method GET": "GET", "method PUT": "PUT", "method PATCH": "PATCH", "method DELETE": "DELETE" },
      (method) => ({
        method,
        text: "",
        expected: {
          status: 405,
          code: "METHOD_NOT_ALLOWED",
          noOperation: true,
          headers: { Allow: /^POST$/ },
        },
        check: "method.not-allowed",
      }),
    ),
    ...unknown(
      [`${path}s`, path.slice(0, -1), path.replace("/v1", "/v2"), path.replace("/v1", "")],
      "path.unknown",
    ),
    ...unknown([path.toUpperCase(), path.replace("/v1", "/V1")], "path.case"),
    ...unknown([`${path}/`, path.replace("/v1", "/v1/")], "path.trailing-slash"),
  };
}

const wholeRows = (Object.keys(PATHS) as OperationId[]).flatMap((id) => {
  const ok = { status: OK[id] };
  const rows = {
    ...tokensOf(ok),
    ...acceptsOf(ok),
    ...mediaTypesOf(ok),
    ...malformedOf(SMALLEST[id]),
    ...sizesOf(id, SMALLEST[id]),
    ...addressesOf(id),
  };
  return Object.entries(rows).map(([name, differences]) => row(id, name, differences));
});

/** Every request with which server and mock are tested. */
export const requestTable: readonly Row[] = [
  ...wholeRows,
  ...refundRows,
  ...refundTextRows,
  ...subscriptionRows,
];
