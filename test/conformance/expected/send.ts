import { request } from "undici";
import type { Contract, HttpResponse } from "../../../openapi/document/contract.ts";
import { valueAt } from "../../../openapi/document/pointer.ts";
import { parseBody } from "../../reporting/exchange.ts";
import { edit, write } from "../constraints/json.ts";
import { toHeaders } from "../transport.ts";
import { BASE_REFUND } from "./refunds.ts";
import type { Expected, Raw, Row, Tokens } from "./row.ts";
import { BASE_SUBSCRIPTION } from "./subscriptions.ts";

const BASES = { issueRefund: BASE_REFUND, subscribeToWebhooks: BASE_SUBSCRIPTION };

/** The headers of the base request; each row says what it changes. */
const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json",
  Authorization: "Bearer {own}",
};

const DEADLINE_MS = 10_000;

/** Sends the request of a row, and adds nothing to it. */
export async function sendRow(baseUrl: string, row: Row, tokens: Partial<Tokens>): Promise<HttpResponse> {
  const response = await request(baseUrl + row.path, {
    method: row.method,
    headers: headersOf(row, tokens),
    body: bodyOf(row),
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  });
  return {
    status: response.statusCode,
    headers: toHeaders(response.headers),
    body: parseBody(await response.body.text()),
  };
}

function headersOf({ token, headers }: Row, tokens: Partial<Tokens>): Record<string, string> {
  const own = tokens[token === "absent" ? "valid" : token] ?? "";
  const sent = Object.entries({ ...HEADERS, ...headers }).flatMap(([name, value]) =>
    value === null || (token === "absent" && name === "Authorization")
      ? []
      : [[name, value.replace("{own}", own)]],
  );
  return Object.fromEntries(sent);
}

/** The body of a row: the base body with its edits. Every refund has its own key, which its row can set. */
export function bodyOf({ name, operation, edits, text }: Row, given?: object): string | Uint8Array {
  if (text !== undefined) return text;
  const base = { ...(given ?? BASES[operation]) };
  if (!given && "requestKey" in base) base.requestKey = `key of ${name}`.slice(0, 200);
  const changes = Object.entries(edits).map(([pointer, value]) => ({ pointer, ...toJson(value) }));
  const last = changes.pop();
  const body = changes.reduce<unknown>(edit, base);
  return last ? write(body, last) : JSON.stringify(body);
}

function toJson(value: unknown): { json?: string } {
  if (value === undefined) return {};
  const isRaw = typeof value === "object" && value !== null && "raw" in value;
  return { json: isRaw ? (value as Raw).raw : JSON.stringify(value) };
}

const TYPES = {
  json: "application/json",
  "json with charset": "application/json; charset=utf-8",
  problem: "application/problem+json",
};

/** The differences between a response and the expected one of the server; empty when it is as promised and as documented. */
export function findServerMismatches(contract: Contract, row: Row, response: HttpResponse): string[] {
  return [
    ...findOutcomeMismatches(row, response),
    ...findMemberMismatches(row.expected.members, response),
    ...findFormMismatches(contract, row.operation, row.expected, response),
  ];
}

/** The unexpected values in a response's body. */
export function findMemberMismatches(members: Expected["members"] = {}, response: HttpResponse): string[] {
  return Object.entries(members).flatMap(([pointer, value]) =>
    differs(pointer, value, valueAt(response.body, pointer)),
  );
}

/** The differences in the parts that every service must send: the code, the violations and the headers. */
export function findOutcomeMismatches({ expected }: Row, response: HttpResponse): string[] {
  const { code, pointers, mentions = [], headers = {} } = expected;
  const violations = valueAt(response.body, "/violations");
  const found = Array.isArray(violations) ? violations.map(({ pointer }) => pointer) : undefined;
  const message = String(valueAt(response.body, "/violations/0/message"));
  return [
    ...differs("errorCode", code, code && valueAt(response.body, "/errorDetails/errorCode")),
    ...differs("violations", pointers?.toSorted(), pointers && found?.toSorted()),
    ...mentions.flatMap((words) => (words.test(message) ? [] : [`message: ${message} without ${words}`])),
    ...Object.entries(headers).flatMap(([name, pattern]) =>
      pattern.test(response.headers.get(name) ?? "") ? [] : [`header ${name}: ${response.headers.get(name)}`],
    ),
  ];
}

/** The differences in status, media type and schema; no more can be expected of the mock. */
export function findFormMismatches(
  contract: Contract,
  operation: string,
  {
    status,
    type,
    noOperation,
  }: Pick<Expected, "status" | "noOperation"> & { readonly type: keyof typeof TYPES },
  response: HttpResponse,
): string[] {
  const mediaType = response.headers.get("content-type") ?? undefined;
  return [
    ...differs("status", status, response.status),
    ...differs("content type", TYPES[type], mediaType),
    ...(noOperation ? [] : contract.violationsOf(operation, response)),
  ];
}

function differs(what: string, expected: unknown, found: unknown): string[] {
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? [] : [`${what}: ${got} for ${wanted}`];
}
