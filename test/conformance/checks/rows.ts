import type { Exchange } from "../../reporting/exchange.ts";
import { assert } from "../assertions.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { type CheckParts, PRECONDITIONS, type Precondition } from "../preconditions.ts";
import { rows as allRows } from "../rows/calls.ts";
import { bodyOf, mismatchesOf, type Row, successOf } from "../rows/row.ts";
import { paymentOf, refundOf, subscriptionOf } from "../valid-requests.ts";

/** A check that sends the rows with its id. */
export function rowsCheck(id: string, name: string, sources: readonly string[]): CheckParts {
  const rows = allRows.filter((row) => row.check === id).map(withoutEffect);
  if (rows.length === 0) throw new Error(`no row has the check ${id}`);
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

const isAccepted = ({ expected, operation }: Row) => expected.status === successOf(operation);

/** Rows that succeed unchanged test the headers alone. So that no refund is made, their body is `{}`: a 400 shows that the headers were accepted. */
function withoutEffect(row: Row): Row {
  if (!isAccepted(row) || Object.keys(row.edits).length > 0) return row;
  return { ...row, edits: { "": {} }, expected: { status: 400, code: "INVALID_REQUEST" } };
}

function preconditionsOf(rows: readonly Row[]): Precondition[] {
  const made = rows.filter(isAccepted);
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
  const { status, code, pointers, type } = row.expected;
  const { received } = exchange;
  const contentType = received.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const mismatches = [
    ...mismatchesOf(row, received),
    // Otherwise any documented media type will do, and all responses are checked for that at the end.
    ...(row.check === "accept.problem-type" && type && contentType !== TYPES[type]
      ? [`the media type is ${contentType}`]
      : []),
  ];
  const violations = pointers && ` and violations at ${JSON.stringify(pointers)}`;
  const promised = `${status} ${code ?? ""}${violations ?? ""}`.trim();
  assert(mismatches.length === 0, `${promised} for ${row.name}; ${mismatches.join("; ")}`, exchange);
}
