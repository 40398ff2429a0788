import { findConstraints } from "../../../openapi/document/constraints.ts";
import { toContract } from "../../../openapi/document/contract.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { acceptedRequests, breakingRequests } from "../../conformance/constraints/requests.ts";
import { sendCall } from "../../conformance/constraints/send.ts";
import type { OperationId } from "../../conformance/expected/row.ts";
import type { Harness } from "./harness.ts";

/** The number of calls, and those whose response differs from the document. */
export type Tried = { readonly count: number; readonly wrong: readonly string[] };

/** For each constraint on requests, makes the calls that violate it and those at its limits. */
export async function tryRequests(document: Node, harness: Harness): Promise<Tried> {
  const constraints = findConstraints(document);
  const contract = toContract(document);
  const { url, tokens } = await harness.serve(document);
  const breaking = breakingRequests(document, constraints, { requestKeyPrefix: "breaks-" }).map(
    ({ expected, ...request }) => ({ ...request, outcomes: [expected.status] }),
  );
  const accepted = acceptedRequests(document, constraints, { requestKeyPrefix: "keeps-" });

  const wrong: string[] = [];
  for (const { constraint, name, call, outcomes } of [...breaking, ...accepted]) {
    const response = await sendCall(url, call, tokens[call.operationId as OperationId]);
    const mismatches = contract.violationsOf(call.operationId, response);
    if (outcomes.includes(response.status) && mismatches.length === 0) continue;
    wrong.push(
      `${constraint.id}: ${name}: got ${response.status}, not ${outcomes.join(" or ")}; ${mismatches}`,
    );
  }
  return { count: breaking.length + accepted.length, wrong };
}
