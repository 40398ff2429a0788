import type { Contract, HttpResponse } from "../../../openapi/document/contract.ts";
import { EXCEPTIONS, type Exception } from "./exceptions.ts";
import type { OperationId, Row } from "./row.ts";
import { findFormMismatches } from "./send.ts";

const SUCCESS: Readonly<Record<OperationId, number>> = { issueRefund: 201, subscribeToWebhooks: 200 };

/**
 * The differences between the mock's response and the server's expected one, but for the row's exception; an exception
 * that does not occur counts as a difference. Its problems are `application/problem+json` whatever `Accept` says: it looks
 * for a response to the caller's `Accept` only among successes.
 */
export function findMockMismatches(contract: Contract, row: Row, response: HttpResponse): string[] {
  const { operation, expected, mock } = row;
  const exception: Partial<Exception> = mock === undefined ? { status: expected.status } : EXCEPTIONS[mock];
  const { status = SUCCESS[operation], ownWords } = exception;
  const type = ownWords ?? (status < 400 ? "json" : "problem");
  const noOperation = expected.noOperation === true || ownWords !== undefined;
  const mismatches = findFormMismatches(contract, operation, { status, type, noOperation }, response);
  const asDocumented = ownWords !== undefined && contract.violationsOf(operation, response).length === 0;
  return asDocumented ? [...mismatches, "the mock's words are the document's"] : mismatches;
}
