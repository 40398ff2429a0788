import type { Exchange } from "../../reporting/exchange.ts";
import { assert } from "../assertions.ts";
import type { CheckParts } from "../check.ts";
import { requestTable } from "../expected/requests.ts";
import type { Row } from "../expected/row.ts";
import { bodyOf, findMemberMismatches, findOutcomeMismatches } from "../expected/send.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { PRECONDITIONS, type Precondition } from "../preconditions.ts";
import { paymentOf, refundOf, subscriptionOf } from "../valid-requests.ts";

/** A check that sends the rows of the expected behaviour that carry its id. */
export function expected(id: string, name: string, sources: readonly string[]): CheckParts {
  const rows = requestTable.filter((row) => row.check === id).map(withoutEffect);
  if (rows.length === 0) throw new Error(`no row of the expected behaviour is for ${id}`);
  return {
    id,
    name,
    sources,
    preconditions: preconditionsOf(rows),
    async run(kit) {
      for (const row of rows) assertRow(row, await kit.send(toSpec(kit, row)));
    },
  };
}

/** Rows that succeed unchanged test the headers alone. So that no refund is made, their body is `{}`: a 400 shows that the headers were accepted. */
function withoutEffect(row: Row): Row {
  if (row.expected.status >= 300 || Object.keys(row.edits).length > 0) return row;
  return { ...row, edits: { "": {} }, expected: { ...row.expected, status: 400, code: "INVALID_REQUEST" } };
}

function preconditionsOf(rows: readonly Row[]): Precondition[] {
  const made = rows.filter(({ expected: { status } }) => status < 300);
  return [
    ...(rows.some(({ token }) => token === "unscoped") ? [PRECONDITIONS.unscopedToken] : []),
    ...(made.length > 0 ? [made.some(isOfFailed) ? PRECONDITIONS.unrefundable : PRECONDITIONS.payment] : []),
  ];
}

/** Refunds of these payments fail, so that no money moves. */
function isOfFailed({ edits }: Row): boolean {
  return edits["/paymentId"] === "pay_failed";
}

function toSpec(kit: Kit, row: Row): CallSpec {
  const { options } = kit;
  const tokens: Partial<Record<Row["token"], string | null>> = {
    absent: null,
    unknown: "conform-nobody",
    unscoped: options.unscopedToken ?? null,
  };
  const headers = Object.entries(row.headers).map(([name, value]) => [
    name,
    value === null ? null : value.replace("{own}", options.token ?? ""),
  ]);
  const edits = isOfFailed(row)
    ? { ...row.edits, "/paymentId": paymentOf(kit, ["failed", "covered", "refund"]) }
    : row.edits;
  const base = row.operation === "issueRefund" ? refundOf(kit) : subscriptionOf(kit);
  return {
    operation: row.operation,
    method: row.method,
    path: row.path,
    body: bodyOf({ ...row, edits }, base),
    ...(row.token in tokens && { token: tokens[row.token] ?? null }),
    headers: { "Content-Type": "application/json", ...Object.fromEntries(headers) },
  };
}

const TYPES = { json: "application/json", problem: "application/problem+json" };

function assertRow(row: Row, exchange: Exchange): void {
  const { status, code, pointers, members, type } = row.expected;
  const { received } = exchange;
  const violations = pointers && ` and violations at ${JSON.stringify(pointers)}`;
  const contentType = received.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const mismatches = [
    ...(received.status === status ? [] : [`the status is ${received.status}`]),
    // Otherwise any documented media type will do, and all responses are checked for that at the end.
    ...(row.check === "accept.problem-type" && contentType !== TYPES[type]
      ? [`the media type is ${contentType}`]
      : []),
    ...findOutcomeMismatches(row, received),
    // The wording of messages is up to the service.
    ...(status < 300 ? findMemberMismatches(members, received) : []),
  ];
  const promised = `${status} ${code ?? ""}${violations ?? ""}`.trim();
  assert(mismatches.length === 0, `${promised} for ${row.name}; ${mismatches.join("; ")}`, exchange);
}
