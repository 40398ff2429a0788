import { BASE_REFUND } from "./refunds.ts";
import { type Differences, type OperationId, PATHS, type Row, row } from "./row.ts";
import { BASE_SUBSCRIPTION } from "./subscriptions.ts";

/*
 * What holds for the call as a whole: tokens, headers, and the body before it is looked into.
 */

const PROBLEM = "problem";
const OK: Readonly<Record<OperationId, number>> = { issueRefund: 201, subscribeToWebhooks: 200 };
const SMALLEST: Readonly<Record<OperationId, string>> = {
  issueRefund: JSON.stringify({ ...BASE_REFUND, requestKey: "key-of-text" }),
  subscribeToWebhooks: JSON.stringify(BASE_SUBSCRIPTION),
};

const unauthorized = {
  status: 401,
  code: "UNAUTHORIZED",
} as const;
const unsupported = { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" } as const;
const malformed = { status: 400, code: "INVALID_REQUEST", pointers: [""] } as const;

/** Of an operation: by the words of the row, what differs. */
function callsOf(id: OperationId): Record<string, Differences> {
  const ok = { status: OK[id] };
  const smallest = SMALLEST[id];
  return {
    "a scheme in small letters is fine": {
      headers: { Authorization: "bearer {own}" },
      expected: ok,
      mock: "wants Bearer as written",
    },
    "no token": { token: "absent", expected: unauthorized },
    "a token that nobody was given": {
      token: "unknown",
      expected: unauthorized,
      mock: "knows no tokens",
    },
    "another scheme": { headers: { Authorization: "Basic YWNtZTphY21l" }, expected: unauthorized },
    "a scheme without a token": { headers: { Authorization: "Bearer" }, expected: unauthorized },
    "no token, and nothing else is right": {
      token: "absent",
      headers: { "Content-Type": "text/plain", Accept: "text/xml" },
      text: "{",
      expected: { ...unauthorized, type: PROBLEM },
    },
    "a token without scopes": {
      token: "unscoped",
      expected: { status: 403, code: "FORBIDDEN" },
      mock: "knows no scopes",
    },
    "a token with the other operation's scope": {
      token: "other",
      expected: { status: 403, code: "FORBIDDEN" },
      mock: "knows no scopes",
    },

    ...acceptsOf(id),

    "JSON in UTF-8, said so": {
      headers: { "Content-Type": "application/json; charset=utf-8" },
      expected: ok,
    },
    "JSON, written otherwise": {
      headers: { "Content-Type": 'Application/JSON;charset="UTF-8"' },
      expected: ok,
    },
    "no media type": {
      headers: { "Content-Type": null },
      expected: unsupported,
      mock: "misses a body that has no media type",
    },
    "plain text": { headers: { "Content-Type": "text/plain" }, expected: unsupported },
    XML: { headers: { "Content-Type": "application/xml" }, expected: unsupported },
    "a form": { headers: { "Content-Type": "application/x-www-form-urlencoded" }, expected: unsupported },
    "a problem as a body": {
      headers: { "Content-Type": "application/problem+json" },
      expected: unsupported,
      mock: "reads all that is like JSON",
    },
    "JSON in UTF-16": {
      headers: { "Content-Type": "application/json; charset=utf-16" },
      expected: unsupported,
      mock: "reads no other charset",
    },
    "compressed JSON": {
      headers: { "Content-Encoding": "gzip" },
      expected: unsupported,
      mock: "reads all that is like JSON",
    },

    "no body": { text: "", expected: malformed },
    "half a body": { text: smallest.slice(0, -1), expected: malformed, mock: "own words for malformed JSON" },
    "two bodies": { text: smallest + smallest, expected: malformed, mock: "own words for malformed JSON" },
    "a byte order mark": {
      text: `\uFEFF${smallest}`,
      expected: malformed,
      mock: "own words for malformed JSON",
    },
    "a key twice": {
      text: smallest.replace(
        "{",
        `{${Object.entries(JSON.parse(smallest)).map(([name, value]) => `"${name}":${JSON.stringify(value)}`)[0]},`,
      ),
      expected: { ...malformed, pointers: [`/${Object.keys(JSON.parse(smallest))[0]}`] },
      mock: "knows no raw text",
    },
    "33 levels": {
      text: smallest.replace("{", `{"x":${"[".repeat(32)}${"]".repeat(32)},`),
      expected: malformed,
    },
    "32 levels": {
      text: smallest.replace("{", `{"x":${"[".repeat(31)}${"]".repeat(31)},`),
      expected: { ...malformed, pointers: ["/x"] },
    },
    "64 KiB": { text: smallest + " ".repeat(65_536 - smallest.length), expected: ok },
    "a byte more than 64 KiB": {
      text: smallest + " ".repeat(65_537 - smallest.length),
      expected: { status: 413, code: "PAYLOAD_TOO_LARGE" },
      mock: "knows no raw text",
    },

    "a method that it does not have": {
      method: "PUT",
      expected: { status: 405, code: "METHOD_NOT_ALLOWED", outside: true },
    },
    "a path that does not exist": {
      path: `${PATHS[id]}s`,
      expected: { status: 404, code: "NOT_FOUND", outside: true },
    },
  };
}

/** What callers accept, and the media type that a problem then has. */
function acceptsOf(id: OperationId): Record<string, Differences> {
  const served = { status: OK[id] };
  const broken = { edits: { "": {} } };
  const refused = { status: 400, code: "INVALID_REQUEST" };
  const unacceptable = { status: 406, code: "NOT_ACCEPTABLE" };
  const accepting = (Accept: string | null) => ({ headers: { Accept } });
  const taken = [
    null,
    "*/*",
    "application/*",
    "text/html, application/json;q=0.1",
    "application/json; charset=utf-8",
  ];
  const problems = [null, "*/*", "application/*", "application/problem+json, application/json"];
  return {
    ...Object.fromEntries(
      taken.map((accept) => [`Accept ${accept} is served`, { ...accepting(accept), expected: served }]),
    ),
    ...Object.fromEntries(
      problems.map((accept) => [
        `a problem for Accept ${accept}`,
        { ...broken, ...accepting(accept), expected: { ...refused, type: PROBLEM } },
      ]),
    ),
    "a problem for Accept application/json": {
      ...broken,
      ...accepting("application/json"),
      expected: refused,
    },
    ...Object.fromEntries(
      ["text/xml", "text/*", "application/problem+json", "application/json;q=0"].map((accept) => [
        `Accept ${accept} is not served`,
        {
          ...accepting(accept),
          expected: { ...unacceptable, type: PROBLEM },
          mock: "own words for what is not acceptable" as const,
        },
      ]),
    ),
  };
}

export const callRows: readonly Row[] = (Object.keys(PATHS) as OperationId[]).flatMap((id) =>
  Object.entries(callsOf(id)).map(([name, differences]) => row(id, name, differences)),
);
