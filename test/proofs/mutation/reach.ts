import type { Constraint } from "../../../openapi/document/constraints.ts";
import { holderOf, isWithin } from "../../../openapi/document/pointer.ts";
import type { MessageTables } from "../../conformance/expected/document-checks.ts";
import type { Row } from "../../conformance/expected/row.ts";
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

/** The rows of messages within reach. */
export function messagesWithin({ responses, events }: Reach, tables: MessageTables): MessageTables {
  return {
    responses: tables.responses.filter(({ operation, status }) => responses.has(`${operation} ${status}`)),
    deliveries: tables.deliveries.filter(({ event }) => events.has(receiverName(event))),
  };
}

/** `refund.terminal_failed` is received by `onRefundTerminalFailed`. */
function receiverName(event: string): string {
  const words = event.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `on${words.join("")}`;
}

/**
 * The calls to make for a mutant: all requests within reach. When only responses are within reach, one call for each kind of
 * response is enough to show the difference.
 */
export function callsWithin({ requests }: Reach, table: readonly Row[]): Row[] {
  return requests.size === 0 ? oneOfEach(table) : table.filter(({ operation }) => requests.has(operation));
}

/** The first call of each kind of response. */
export function oneOfEach(table: readonly Row[]): Row[] {
  const groups = Map.groupBy(table, ({ operation, expected }) =>
    [operation, expected.status, expected.type, expected.members?.["/paymentStatus"]].join(" "),
  );
  return [...groups.values()].flatMap(([first]) => first ?? []);
}
