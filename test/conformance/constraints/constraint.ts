import type { Node } from "../../../openapi/document/node.ts";

/** The part of a message that a constraint applies to. `call` is the message as a whole: its token, media type or status. */
export type Part =
  | { readonly in: "body"; readonly mediaType: string }
  | { readonly in: "header" | "query" | "path"; readonly name: string }
  | { readonly in: "call" };

/** The conditions under which a constraint applies to a message. */
export type Condition =
  /** The object at `at` carries the tag that chooses a branch of a `oneOf`. */
  | { readonly kind: "tag"; readonly at: string; readonly name: string; readonly value: string }
  /** The object at `at` is, or is not, as the `if` at `pointer` of the document says. */
  | { readonly kind: "if"; readonly at: string; readonly pointer: string; readonly holds: boolean };

/** The message that a constraint is about. */
export type MessageLocation = {
  readonly operationId: string;
  /** `webhook`: deliveries to subscribers and their responses. */
  readonly side: "request" | "response" | "webhook";
  /** The status of a response: `201`, `2XX`, `default`. */
  readonly status?: string;
  readonly part: Part;
  /** JSON Pointer into the part, `*` for every item of a list; empty for the part as a whole. */
  readonly at: string;
  readonly when: readonly Condition[];
};

/** One rule of the document for one place of one message. A schema that is used twice has two constraints. */
export type Constraint = MessageLocation & {
  /** Names the constraint in reports; no two of a document have the same. */
  readonly id: string;
  /** JSON Pointer to the rule in the document, references followed; for a list such as `required`, to the entry. */
  readonly pointer: string;
  /**
   * The keyword of the schema; outside schemas `security`, `scope`, `requestBody` (must there be one), `content` (which media
   * types), `status`, and `required` for headers and parameters.
   */
  readonly keyword: string;
  /** The value of the rule: a bound, a list of values, the name of a required member. */
  readonly value: unknown;
  /** The schema that holds the keyword; outside schemas, the object that does. */
  readonly holder: Node;
};

type Rule = Pick<Constraint, "pointer" | "keyword" | "value" | "holder">;

export function toConstraint(place: MessageLocation, said: Rule): Constraint {
  return { ...place, ...said, id: toId(place, said) };
}

function toId(
  { operationId, side, status, part, at, when }: MessageLocation,
  { keyword, value }: Rule,
): string {
  const message = status === undefined ? side : `${side} ${status}`;
  const where = part.in === "body" ? `${part.mediaType} ${at || "/"}` : toName(part);
  const which = keyword === "scope" || keyword === "dependentRequired" ? ` ${JSON.stringify(value)}` : "";
  return [`${operationId} ${message}`, where, keyword + which, ...when.map(toWords)]
    .filter(Boolean)
    .join(" ");
}

function toName(part: Exclude<Part, { in: "body" }>): string {
  return part.in === "call" ? "" : `${part.in} ${part.name}`;
}

function toWords(condition: Condition): string {
  if (condition.kind === "tag") return `when ${condition.name} is ${condition.value}`;
  return `when ${condition.pointer} ${condition.holds ? "holds" : "does not hold"}`;
}
