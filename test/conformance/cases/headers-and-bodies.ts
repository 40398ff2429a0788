import { refundCases } from "./refunds.ts";
import {
  BODIES,
  type Differences,
  defineCase,
  invalid,
  type OperationId,
  pathOf,
  type RequestCase,
} from "./request-case.ts";
import { subscriptionCases } from "./subscriptions.ts";

/* Rules for the request as a whole: tokens, headers, and the body before its fields are validated. */

const PROBLEM = "problem";
const KIB = 1024;

/** The same differences under each name, created from the value next to it. */
function each<Value>(
  values: Readonly<Record<string, Value>>,
  toDifferences: (value: Value) => Differences,
): Record<string, Differences> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toDifferences(value)]));
}

const challenge = (error: string) => ({
  "WWW-Authenticate": new RegExp(`^Bearer\\b.*\\berror="${error}"`, "i"),
});
const forbidden = { expected: { status: 403, code: "FORBIDDEN", headers: challenge("insufficient_scope") } };

const TOKENS: Record<string, Differences> = {
  "a scheme in small letters": { headers: { Authorization: "bearer {own}" }, check: "access.scheme-case" },
  "an unknown token": {
    token: "unknown",
    expected: { status: 401, code: "UNAUTHORIZED", headers: challenge("invalid_token") },
    check: "access.unknown-token",
  },
  "no token, and wrong headers and body": {
    token: "absent",
    headers: { "Content-Type": "text/plain", Accept: "text/xml" },
    text: "{",
    expected: {
      ...{ status: 401, code: "UNAUTHORIZED", type: PROBLEM },
      headers: { "WWW-Authenticate": /^Bearer\b/i },
    },
  },
  "a token without scopes": { ...forbidden, token: "unscoped", check: "access.scope" },
  "a token with the other operation's scope": { ...forbidden, token: "other" },
};

/** Without Accept, a call is served; and Accept chooses the media type of a problem. */
const ACCEPTS: Record<string, Differences> = {
  "no Accept": { headers: { Accept: null }, check: "accept.absent" },
  "Accept application/problem+json": {
    headers: { Accept: "application/problem+json" },
    expected: { status: 406, code: "NOT_ACCEPTABLE", type: PROBLEM },
    check: "accept.no-json",
  },
  ...Object.fromEntries(
    (
      [
        [null, PROBLEM],
        ["*/*", PROBLEM],
        ["application/*", PROBLEM],
        ["application/problem+json, application/json", PROBLEM],
        ["application/json", "json"],
        ["text/html, application/json;q=0.1", "json"],
      ] as const
    ).map(([Accept, type]) => [
      `a problem for Accept ${Accept}`,
      {
        ...{ headers: { Accept }, edits: { "": {} }, check: "accept.problem-type" },
        expected: { status: 400, code: "INVALID_REQUEST", type },
      },
    ]),
  ),
};

/** Bodies that the parser refuses, before any field is validated. */
function malformedOf(good: string): Record<string, Differences> {
  const notJson = {
    "half a body": good.slice(0, -1),
    "only a brace": "{",
    "two bodies": good + good,
    "a comma too many": `${good.slice(0, -1)},}`,
    "a comment": good.replace("{", "{/* */"),
    "single quotes": good.replaceAll('"', "'"),
    "a NUL before the body": `\0${good}`,
    "a raw NUL in a text": inText(good, "\0"),
    "a raw line break in a text": inText(good, "\n"),
    "UTF-16": Buffer.from(good, "utf16le"),
    "lists as deep as 64 KiB allow": "[".repeat(64 * KIB),
    "objects as deep as 64 KiB allow": '{"a":'.repeat(13_000),
  };
  const malformed = (text: string | Uint8Array, check: string) => ({ text, check, expected: invalid("") });
  const depth = (levels: number) =>
    good.replace("{", `{"x":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)},`);
  return {
    ...each(notJson, (text) => malformed(text, "body.malformed")),
    "a byte order mark": malformed(`\uFEFF${good}`, "body.bom"),
    "a body in Latin-1": malformed(Buffer.from(inText(good, "é"), "latin1"), "body.utf-8"),
    "a surrogate as bytes": malformed(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "body.utf-8"),
    "a key twice": {
      text: good.replace(/^\{("\w+":)/, "{$1null,$1"),
      expected: invalid(`/${/\w+/.exec(good)}`),
      check: "body.duplicate-keys",
    },
    "32 levels": { text: depth(32), expected: invalid("/x"), check: "body.depth" },
    ...each({ "33 levels": 33, "10,000 levels": 10_000 }, (levels) => malformed(depth(levels), "body.depth")),
  };
}

/** A body with something inserted at the beginning of an unrestricted string. */
function inText(good: string, inserted: string): string {
  return good.replace(/("(?:requestKey|secretKey)":")/, `$1${inserted}`);
}

function sizesOf(id: OperationId, good: string): Record<string, Differences> {
  return {
    "64 KiB": { text: good.padEnd(64 * KIB) },
    "64 KiB that hold no field": {
      text: "{}".padStart(64 * KIB),
      expected: invalid(...Object.keys(BODIES[id]).map((name) => `/${name}`)),
      check: "body.too-large",
    },
    "a byte more than 64 KiB": {
      text: good.padEnd(64 * KIB + 1),
      expected: { status: 413, code: "PAYLOAD_TOO_LARGE" },
      check: "body.too-large",
    },
  };
}

/** Methods and paths other than the operation's own. An unknown path needs no token (D08). */
function addressesOf(id: OperationId): Record<string, Differences> {
  const path = pathOf(id);
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
          ...{ status: 405, code: "METHOD_NOT_ALLOWED", noOperation: true },
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

const wholeCases = (Object.keys(BODIES) as OperationId[]).flatMap((id) => {
  const good = JSON.stringify({ ...BODIES[id], ...(id === "issueRefund" && { requestKey: "key-of-text" }) });
  const cases = { ...TOKENS, ...ACCEPTS, ...malformedOf(good), ...sizesOf(id, good), ...addressesOf(id) };
  return Object.entries(cases).map(([name, differences]) => defineCase(id, name, differences));
});

/** Every request that is written by hand. */
export const cases: readonly RequestCase[] = [...wholeCases, ...refundCases, ...subscriptionCases];
