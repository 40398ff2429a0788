import { request } from "undici";
import { edit, valueAt, write } from "../constraints/json.ts";
import type { Answer, Contract } from "../contract.ts";
import type { Given } from "./given.ts";
import { BASE_REFUND } from "./refunds.ts";
import type { Expected, Raw, Row } from "./row.ts";
import { BASE_SUBSCRIPTION } from "./subscriptions.ts";

const BASES = { issueRefund: BASE_REFUND, subscribeToWebhooks: BASE_SUBSCRIPTION };

/** Of the base call; each row says what it changes. */
const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json",
  Authorization: "Bearer {own}",
};

/** Milliseconds after which nobody answers any more. */
const PATIENCE_MS = 10_000;

/** Makes the call of a row, and adds nothing to it. The body of the answer is undefined when it is no JSON. */
export async function sendRow(baseUrl: string, row: Row, given: Given): Promise<Answer> {
  const answer = await request(baseUrl + row.path, {
    method: row.method,
    headers: headersOf(row, given),
    body: row.text ?? bodyOf(row),
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return { status: answer.statusCode, headers: new Headers(headers), body: parse(await answer.body.text()) };
}

function headersOf({ operation, token, headers }: Row, given: Given): Record<string, string> {
  const { valid, ...others } = given[operation];
  const own = token === "valid" || token === "absent" ? valid : others[token];
  const sent = Object.entries({ ...HEADERS, ...headers }).flatMap(([name, value]) =>
    value === null || (token === "absent" && name === "Authorization")
      ? []
      : [[name, value.replace("{own}", own)]],
  );
  return Object.fromEntries(sent);
}

/** The base body with the edits of the row. Every refund has a key of its own, which its row can say. */
function bodyOf({ name, operation, edits }: Row): string {
  const base = { ...BASES[operation] };
  if ("requestKey" in base) base.requestKey = `key of ${name}`.slice(0, 200);
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TYPES = { json: "application/json", problem: "application/problem+json" };

/** What of an answer differs from the server's expected one; empty when it is as promised, and as documented. */
export function faultsOfServer(contract: Contract, { operation, expected }: Row, answer: Answer): string[] {
  const { code, pointers, members = {} } = expected;
  const violations = valueAt(answer.body, "/violations");
  const found = Array.isArray(violations) ? violations.map(({ pointer }) => pointer) : undefined;
  return [
    ...differs("errorCode", code, code && valueAt(answer.body, "/errorDetails/errorCode")),
    ...differs("violations", pointers?.toSorted(), pointers && found?.toSorted()),
    ...Object.entries(members).flatMap(([pointer, value]) =>
      differs(pointer, value, valueAt(answer.body, pointer)),
    ),
    ...faultsOfForm(contract, operation, expected, answer),
  ];
}

/** What of an answer's status, media type and schema differs from the expected; of the mock no more can be asked. */
export function faultsOfForm(
  contract: Contract,
  operation: string,
  { status, type, outside }: Pick<Expected, "status" | "type" | "outside">,
  answer: Answer,
): string[] {
  const mediaType = answer.headers.get("content-type")?.replace(/; ?charset=utf-8$/i, "");
  return [
    ...differs("status", status, answer.status),
    ...differs("content type", TYPES[type], mediaType),
    ...(outside ? [] : contract.faultsOf(operation, answer)),
  ];
}

function differs(what: string, expected: unknown, found: unknown): string[] {
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? [] : [`${what}: ${got} for ${wanted}`];
}
