import { findConstraints } from "../constraints/find.ts";
import type { Node } from "../constraints/pointer.ts";
import { acceptedRequests, breakingRequests } from "../constraints/requests.ts";
import { sendCall } from "../constraints/send.ts";
import { toContract } from "../contract.ts";
import type { OperationId } from "../table/row.ts";
import type { Lab } from "./lab.ts";

/** How many calls were made, and those that the server answered otherwise than the document says. */
export type Tried = { readonly count: number; readonly wrong: readonly string[] };

/** For each constraint on requests, makes the calls that break it and those that go as far as it allows. */
export async function tryRequests(document: Node, lab: Lab): Promise<Tried> {
  const constraints = findConstraints(document);
  const contract = toContract(document);
  const { url, given } = await lab.serve(document);
  const breaking = breakingRequests(document, constraints, { requestKeyPrefix: "breaks-" }).map(
    ({ expected, ...request }) => ({ ...request, outcomes: [expected.status] }),
  );
  const accepted = acceptedRequests(document, constraints, { requestKeyPrefix: "keeps-" });

  const wrong: string[] = [];
  for (const { constraint, name, call, outcomes } of [...breaking, ...accepted]) {
    const answer = await sendCall(url, call, given[call.operationId as OperationId]);
    const faults = contract.faultsOf(call.operationId, answer);
    if (outcomes.includes(answer.status) && faults.length === 0) continue;
    wrong.push(
      `${constraint.id}: ${name}: answered ${answer.status}, not ${outcomes.join(" or ")}; ${faults}`,
    );
  }
  return { count: breaking.length + accepted.length, wrong };
}
