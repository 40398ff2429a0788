import { isDeepStrictEqual } from "node:util";
import type { Contract, HttpResponse } from "../../../openapi/document/contract.ts";
import { parseBody } from "../../reporting/exchange.ts";
import type { Case } from "./case.ts";
import type { WireResponse } from "./wire.ts";

/** Lists the errors of a response; empty when there are none. */
export type Oracle = (given: Case, response: WireResponse) => string[];

/**
 * Compares responses with the contract and with the expectations of the request: no 5xx, nothing undocumented, no valid
 * request refused, no invalid one accepted.
 */
export function createOracle(contract: Contract, sandbox: Contract): Oracle {
  const published = contract.operations.map(({ id }) => id);
  const contractOf = (operation: string) => (published.includes(operation) ? contract : sandbox);

  /**
   * Validates a response to a path without an operation: a problem of the usual form, with a status that no operation documents.
   */
  const violationsWithoutOperation = (response: HttpResponse): string[] => {
    const own = published.map((id) => contract.violationsOf(id, response));
    const problem = contract.violationsOf("issueRefund", { ...response, status: 404 });
    return own.some((violations) => violations.length === 0) ? [] : problem;
  };

  return ({ operation, method, statuses }, { status, headers, text }) => {
    if (status >= 500) return [`it gets ${status}`];
    const response = { status, headers, body: parseBody(text) };
    if (text.length === 0 && method === "HEAD") return [];
    const violations = operation
      ? contractOf(operation).violationsOf(operation, response)
      : violationsWithoutOperation(response);
    // A path whose parameter is a dot reaches no operation; paths of the published contract have no parameters.
    const noOperation = operation !== undefined && !published.includes(operation) && status === 404;
    if (noOperation && violationsWithoutOperation(response).length === 0) return [];
    if (statuses && !statuses.includes(status)) violations.push(`it should get ${statuses.join(" or ")}`);
    return violations;
  };
}

/** Whether a repeated refund was a duplicate of exactly the record that the first call created. */
export function violationsOfDuplicate(
  refund: Readonly<Record<string, unknown>>,
  first: WireResponse,
  second: WireResponse,
): string[] {
  const made = parseBody(first.text) as Record<string, unknown>;
  const reference = refund.clientReferenceId ?? refund.clientRefefenceId ?? null;
  const duplicate = parseBody(second.text) as { existing?: Record<string, unknown> } | undefined;
  const wanted = {
    ...made,
    clientReferenceId: reference,
    originalPaymentId: refund.paymentId,
    amount: refund.amount,
  };
  const violations =
    made.clientReferenceId === reference ? [] : ["the refund has another reference than was sent"];
  if (second.status !== 409) return [...violations, `the same key again gets ${second.status}`];
  const existing = duplicate?.existing;
  if (existing === undefined || !isDeepStrictEqual(existing, wanted)) {
    violations.push(
      `what is stored is not what was sent: ${JSON.stringify(existing)}, not ${JSON.stringify(wanted)}`,
    );
  }
  return violations;
}
