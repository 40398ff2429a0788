/** Makes one check of the request cases in test/conformance/cases that name its id. */
import type { Exchange } from "../../reporting/exchange.ts";
import { assert } from "../assertions.ts";
import { cases as allCases } from "../cases/headers-and-bodies.ts";
import { bodyOf, mismatchesOf, type RequestCase, successOf } from "../cases/request-case.ts";
import type { CallSpec, Kit } from "../kit.ts";
import { type CheckParts, PRECONDITIONS, type Precondition } from "../preconditions.ts";
import { paymentOf, refundOf, subscriptionOf } from "../valid-requests.ts";

export function casesCheck(id: string, name: string, sources: readonly string[]): CheckParts {
  const cases = allCases.filter((requestCase) => requestCase.check === id).map(withoutEffect);
  if (cases.length === 0) throw new Error(`no case has the check ${id}`);
  return {
    id,
    name,
    sources,
    preconditions: preconditionsOf(cases),
    async run(kit) {
      for (const requestCase of cases) assertCase(requestCase, await kit.send(toSpec(kit, requestCase)));
    },
  };
}

const isAccepted = ({ expected, operation }: RequestCase) => expected.status === successOf(operation);

/** Cases that succeed unchanged test the headers alone. So that no refund is made, their body is `{}`: a 400 shows that the headers were accepted. */
function withoutEffect(requestCase: RequestCase): RequestCase {
  if (!isAccepted(requestCase) || Object.keys(requestCase.edits).length > 0) return requestCase;
  return { ...requestCase, edits: { "": {} }, expected: { status: 400, code: "INVALID_REQUEST" } };
}

function preconditionsOf(cases: readonly RequestCase[]): Precondition[] {
  const made = cases.filter(isAccepted);
  return [
    ...(cases.some(({ token }) => token === "unscoped") ? [PRECONDITIONS.unscopedToken] : []),
    ...(made.length > 0 ? [made.some(isOfFailed) ? PRECONDITIONS.unrefundable : PRECONDITIONS.payment] : []),
  ];
}

/** Refunds of these payments fail, so that no money moves. */
function isOfFailed({ edits }: RequestCase): boolean {
  return edits["/paymentId"] === "pay_failed";
}

function toSpec(kit: Kit, requestCase: RequestCase): CallSpec {
  const { options } = kit;
  const tokens: Partial<Record<RequestCase["token"], string | null>> = {
    absent: null,
    unknown: "conform-nobody",
    unscoped: options.unscopedToken ?? null,
  };
  const headers = Object.entries(requestCase.headers).map(([name, value]) => [
    name,
    value === null ? null : value.replace("{own}", options.token ?? ""),
  ]);
  const edits = isOfFailed(requestCase)
    ? { ...requestCase.edits, "/paymentId": paymentOf(kit, ["failed", "covered", "refund"]) }
    : requestCase.edits;
  const base = requestCase.operation === "issueRefund" ? refundOf(kit) : subscriptionOf(kit);
  return {
    operation: requestCase.operation,
    method: requestCase.method,
    path: requestCase.path,
    body: bodyOf({ ...requestCase, edits }, base),
    ...(requestCase.token in tokens && { token: tokens[requestCase.token] ?? null }),
    headers: { "Content-Type": "application/json", ...Object.fromEntries(headers) },
  };
}

const TYPES = { json: "application/json", problem: "application/problem+json" };

function assertCase(requestCase: RequestCase, exchange: Exchange): void {
  const { status, code, pointers, type } = requestCase.expected;
  const { received } = exchange;
  const contentType = received.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const mismatches = [
    ...mismatchesOf(requestCase, received),
    // Otherwise any documented media type will do, and all responses are checked for that at the end.
    ...(requestCase.check === "accept.problem-type" && type && contentType !== TYPES[type]
      ? [`the media type is ${contentType}`]
      : []),
  ];
  const violations = pointers && ` and violations at ${JSON.stringify(pointers)}`;
  const promised = `${status} ${code ?? ""}${violations ?? ""}`.trim();
  assert(mismatches.length === 0, `${promised} for ${requestCase.name}; ${mismatches.join("; ")}`, exchange);
}
