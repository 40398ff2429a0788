import type { Answer, Contract } from "../contract.ts";
import type { Case } from "./case.ts";
import type { Reply } from "./wire.ts";

/** What is wrong with an answer; empty when nothing is. */
export type Judge = (given: Case, reply: Reply) => string[];

/**
 * Holds answers against the contract, and against what is known of the request: no 5xx, nothing that the document does
 * not declare, no valid request refused, no invalid one accepted.
 */
export function createJudge(contract: Contract, sandbox: Contract): Judge {
  const published = contract.operations.map(({ id }) => id);
  const contractOf = (operation: string) => (published.includes(operation) ? contract : sandbox);

  /** An answer of what is no operation: a problem like those of one, with a status that stands under none. */
  const strayFaults = (answer: Answer): string[] => {
    const own = published.map((id) => contract.faultsOf(id, answer));
    const problem = contract.faultsOf("issueRefund", { ...answer, status: 404 });
    return own.some((faults) => faults.length === 0) ? [] : problem;
  };

  return ({ operation, method, statuses }, { status, headers, text }) => {
    if (status >= 500) return [`it is answered ${status}`];
    const answer = { status, headers, body: parseJson(text) };
    if (text.length === 0 && method === "HEAD") return [];
    const faults = operation ? contractOf(operation).faultsOf(operation, answer) : strayFaults(answer);
    // A path whose parameter is a dot comes to no operation; those of the published ones have no parameters.
    const stray = operation !== undefined && !published.includes(operation) && status === 404;
    if (stray && strayFaults(answer).length === 0) return [];
    if (statuses && !statuses.includes(status)) faults.push(`it should be answered ${statuses.join(" or ")}`);
    return faults;
  };
}

/** Whether a repeated refund was the duplicate of the very record that the first call asked for. */
export function judgeDuplicate(
  refund: Readonly<Record<string, unknown>>,
  first: Reply,
  second: Reply,
): string[] {
  const made = parseJson(first.text) as Record<string, unknown>;
  const reference = refund.clientReferenceId ?? refund.clientRefefenceId ?? null;
  const duplicate = parseJson(second.text) as { existing?: Record<string, unknown> } | undefined;
  const wanted = {
    ...made,
    clientReferenceId: reference,
    originalPaymentId: refund.paymentId,
    amount: refund.amount,
  };
  const faults =
    made.clientReferenceId === reference ? [] : ["the refund has another reference than was sent"];
  if (second.status !== 409) return [...faults, `the same key again is answered ${second.status}`];
  const existing = duplicate?.existing;
  if (existing === undefined || !same(existing, wanted)) {
    faults.push(
      `what is stored is not what was sent: ${JSON.stringify(existing)}, not ${JSON.stringify(wanted)}`,
    );
  }
  return faults;
}

function same(left: unknown, right: unknown): boolean {
  const sorted = (_: string, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return JSON.stringify(left, sorted) === JSON.stringify(right, sorted);
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
