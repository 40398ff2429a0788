import type { Constraint } from "../../../openapi/document/constraints.ts";
import { holderOf, isWithin } from "../../../openapi/document/pointer.ts";
import type { Row } from "../../conformance/rows/row.ts";
import type { DerivedRow } from "../../openapi/rows.ts";
import type { JudgedMessage } from "./messages.ts";
import type { Mutant } from "./mutant.ts";

/** The messages that a mutant can affect: requests by operation, responses by operation and status, events. */
export type Reach = {
  readonly requests: ReadonlySet<string>;
  readonly responses: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
};

/** Finds the messages of the constraints at a mutant's location or below it, or else around it. */
export function reachOf({ pointer }: Mutant, constraints: readonly Constraint[]): Reach {
  const near = constraintsNear(pointer, constraints);
  const of = (side: Constraint["side"]) => near.filter((one) => one.side === side);
  return {
    requests: new Set(of("request").map(({ operationId }) => operationId)),
    responses: new Set(of("response").map(({ operationId, status }) => `${operationId} ${status}`)),
    events: new Set(of("webhook").map(({ operationId }) => operationId)),
  };
}

function constraintsNear(pointer: string, constraints: readonly Constraint[]): readonly Constraint[] {
  const found = constraints.filter((one) => isWithin(one.pointer, pointer));
  return found.length > 0 || pointer === "" ? found : constraintsNear(holderOf(pointer), constraints);
}

/** The messages within reach. */
export function messagesWithin(
  { responses, events }: Reach,
  messages: readonly JudgedMessage[],
): JudgedMessage[] {
  return messages.filter(({ operation, status }) =>
    status === undefined ? events.has(operation) : responses.has(`${operation} ${status}`),
  );
}

/** Requests by where they come from: a mock can only get those that are derived from the document. */
export type Calls = { readonly derived: readonly DerivedRow[]; readonly rows: readonly Row[] };

/**
 * The calls to make for a mutant: all requests within reach, those of its constraint first. When only responses are within reach,
 * one call for each kind of response is enough to show the difference.
 */
export function callsWithin({ pointer }: Mutant, { requests }: Reach, { derived, rows }: Calls): Calls {
  if (requests.size === 0) return { derived: oneOfEach(derived), rows: oneOfEach(rows) };
  const near = derived.filter(({ operation }) => requests.has(operation));
  const rank = (one: DerivedRow) => (isWithin(one.pointer, pointer) ? 0 : 1);
  return {
    derived: near.toSorted((a, b) => rank(a) - rank(b)),
    rows: rows.filter(({ operation }) => requests.has(operation)),
  };
}

/** The first call of each kind of response. */
export function oneOfEach<Each extends Row>(rows: readonly Each[]): Each[] {
  const groups = Map.groupBy(rows, ({ operation, expected: { status, type, members } }) =>
    [operation, status, type, members?.["/paymentStatus"]].join(" "),
  );
  return [...groups.values()].flatMap(([first]) => first ?? []);
}
