import { locate, members, type Node } from "./document-node.ts";
import { KEYWORDS, limitsValues } from "./known-keywords.ts";
import { operationsOf } from "./list-operations.ts";
import { holderOf, step } from "./pointer.ts";

/**
 * Every rule that a request, a response or a webhook can violate, such as `issueRefund request application/json /requestKey maxLength`.
 * Throws for parts of the document that it does not know.
 */
export function findConstraints(document: Node): Constraint[] {
  return operationsOf(document).flatMap(({ kind, pointer }) => {
    open(document, holderOf(pointer), "item");
    return ofOperation(document, pointer, kind === "webhooks");
  });
}

/** The part of a message that a constraint applies to. `call` is the message as a whole: its token, media type or status. */
export type Part =
  | { readonly in: "body"; readonly mediaType: string }
  | { readonly in: "header" | "query" | "path"; readonly name: string }
  | { readonly in: "call" };

/** The conditions under which a constraint applies to a message. */
export type Condition =
  /** The object at `at` carries the tag that chooses a branch of a `oneOf`. */
  | { readonly kind: "tag"; readonly at: string; readonly name: string; readonly value: string }
  /** The object at `at` meets, or does not meet, the `if` at `pointer` of the document. */
  | { readonly kind: "if"; readonly at: string; readonly pointer: string; readonly holds: boolean };

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

/** One rule of the document for one location in one message. A schema that is used twice has two constraints. */
export type Constraint = MessageLocation & {
  /** Names the constraint in reports; no two of a document have the same. */
  readonly id: string;
  /** JSON Pointer to the rule in the document, references followed; for a list such as `required`, to the entry. */
  readonly pointer: string;
  /**
   * The keyword of the schema; outside schemas `security`, `scope`, `requestBody` (whether one is required), `content` (the media
   * types), `status`, and `required` for headers and parameters.
   */
  readonly keyword: string;
  /** The value of the rule: a bound, a list of values, the name of a required member. */
  readonly value: unknown;
  /** The schema that holds the keyword; outside schemas, the object that does. */
  readonly holder: Node;
};

type Rule = Pick<Constraint, "pointer" | "keyword" | "value" | "holder">;

function toConstraint(location: MessageLocation, rule: Rule): Constraint {
  const { operationId, side, status, part, at, when } = location;
  const { keyword, value } = rule;
  let where = "name" in part ? `${part.in} ${part.name}` : "";
  if (part.in === "body") where = `${part.mediaType} ${at || "/"}`;
  const which = ["scope", "dependentRequired"].includes(keyword) ? ` ${JSON.stringify(value)}` : "";
  const words = [
    `${operationId} ${status === undefined ? side : `${side} ${status}`}`,
    where,
    keyword + which,
    ...when.map((condition) =>
      condition.kind === "tag"
        ? `when ${condition.name} is ${condition.value}`
        : `when ${condition.pointer} ${condition.holds ? "holds" : "does not hold"}`,
    ),
  ];
  return { ...location, ...rule, id: words.filter(Boolean).join(" ") };
}

/** Every constraint of a schema that belongs to no message. */
export function findConstraintsOfSchema(document: Node, pointer: string): Constraint[] {
  const part = { in: "body", mediaType: "application/json" } as const;
  return ofSchema(document, pointer, { operationId: "", side: "request", part, at: "", when: [] });
}

/** Every constraint of the schema at `pointer`, and of those below it. Throws for an unknown keyword. */
function ofSchema(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const [here, schema] = locate(document, pointer);
  return Object.keys(schema).flatMap((keyword) => ofKeyword(document, here, keyword, location));
}

function ofKeyword(document: Node, here: string, keyword: string, location: MessageLocation): Constraint[] {
  const holder = locate(document, here)[1];
  const value = holder[keyword];
  const pointer = here + step(keyword);
  const isLimit = limitsValues(keyword, holder);
  if (isLimit === undefined) throw new Error(`no rule for the keyword ${keyword} at ${here}`);
  if (!isLimit) return [];

  const rule = { pointer, keyword, value, holder };
  const below = (name: string) => ({ ...location, at: location.at + step(name) });
  const under = (condition: Condition) => ({ ...location, when: [...location.when, condition] });
  const each = (names: unknown, from: string, toValue: (name: string) => unknown) =>
    (names as string[]).map((name, index) =>
      toConstraint(below(name), { ...rule, pointer: from + step(index), value: toValue(name) }),
    );
  switch (KEYWORDS[keyword]?.holds) {
    case "names":
      return each(value, pointer, (name) => name);
    case "names by trigger":
      return members(value).flatMap(([trigger, names]) =>
        each(names, pointer + step(trigger), (name) => [trigger, name]),
      );
    case "properties":
      return members(value).flatMap(([name]) => ofSchema(document, pointer + step(name), below(name)));
    case "schema":
      return ofSchema(document, pointer, below("*"));
    case "branches":
      return [toConstraint(location, rule), ...ofBranches(document, rule, location, under)];
    case "condition":
      if (keyword === "if" || keyword === "not") break;
      return ofSchema(
        document,
        pointer,
        under({ kind: "if", at: location.at, pointer: `${here}/if`, holds: keyword === "then" }),
      );
  }
  // A schema for the members that no name declares would need rules of its own.
  if (keyword === "additionalProperties" && typeof value !== "boolean")
    throw new Error(`no rule for a schema at ${pointer}`);
  return [toConstraint(location, rule)];
}

function ofBranches(
  document: Node,
  { holder, pointer, value }: Rule,
  { at }: MessageLocation,
  under: (condition: Condition) => MessageLocation,
): Constraint[] {
  const name = (holder.discriminator as { propertyName?: string } | undefined)?.propertyName;
  if (name === undefined) throw new Error(`no rule for a oneOf without a discriminator at ${pointer}`);
  return (value as unknown[]).flatMap((_branch, index) => {
    const [here, branch] = locate(document, pointer + step(index));
    const tag = (branch.properties as Record<string, Node> | undefined)?.[name]?.const;
    if (typeof tag !== "string") throw new Error(`the branch at ${here} has no const ${name}`);
    return ofSchema(document, here, under({ kind: "tag", at, name, value: tag }));
  });
}

/** Members for readers that every object of a document may have. */
const FOR_READERS = ["summary", "description", "x-source", "x-retry", "examples", "example", "deprecated"];

/** The allowed members of objects outside schemas: any other is an error, so that nothing is overlooked. */
const KNOWN = {
  item: ["get", "put", "post", "delete", "patch"],
  operation: ["operationId", "tags", "security", "parameters", "requestBody", "responses"],
  parameter: ["name", "in", "required", "schema"],
  requestBody: ["required", "content"],
  mediaType: ["schema"],
  response: ["headers", "content"],
  header: ["required", "schema"],
};

/** The object at a pointer. Throws when it has an unknown member. */
function open(document: Node, pointer: string, kind: keyof typeof KNOWN): [string, Node] {
  const [here, part] = locate(document, pointer);
  const unknown = Object.keys(part).find((name) => ![...KNOWN[kind], ...FOR_READERS].includes(name));
  if (unknown !== undefined) throw new Error(`no rule for ${unknown} at ${here}`);
  return [here, part];
}

function ofOperation(document: Node, pointer: string, isWebhook: boolean): Constraint[] {
  const [here, operation] = open(document, pointer, "operation");
  const locationOf = (side: Constraint["side"], part: Part = { in: "call" }): MessageLocation => ({
    operationId: String(operation.operationId),
    side: isWebhook ? "webhook" : side,
    part,
    at: "",
    when: [],
  });
  return [
    ...ofSecurity(document, here, locationOf("request")),
    ...members(operation.parameters).flatMap(([index]) => {
      const [pointer, { in: where, name }] = open(document, `${here}/parameters${step(index)}`, "parameter");
      return ofNamedValue(document, pointer, locationOf("request", { in: where, name } as Part));
    }),
    ...(operation.requestBody === undefined
      ? []
      : ofBody(document, `${here}/requestBody`, locationOf("request"))),
    ...members(operation.responses).flatMap(([status]) =>
      ofResponse(document, `${here}/responses${step(status)}`, { ...locationOf("response"), status }),
    ),
  ];
}

/** An operation's own list replaces the document's, even when it is empty. */
function ofSecurity(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const { security } = locate(document, pointer)[1];
  const value = security ?? document.security ?? [];
  const here = security === undefined ? "/security" : `${pointer}/security`;
  if (!Array.isArray(value) || value.length > 1) throw new Error(`no rule for a choice at ${here}`);
  return members(value).flatMap(([index, holder]) => {
    const pointer = here + step(index);
    return [
      toConstraint(location, { pointer, keyword: "security", value: holder, holder }),
      ...members(holder).flatMap(([scheme, scopes]) =>
        members(scopes).map(([scope, name]) => {
          const here = pointer + step(scheme) + step(scope);
          return toConstraint(location, { pointer: here, keyword: "scope", value: name, holder });
        }),
      ),
    ];
  });
}

function ofNamedValue(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const [here, holder] = locate(document, pointer);
  const required = { pointer: `${here}/required`, keyword: "required", value: true, holder };
  return [
    ...(holder.required === true ? [toConstraint(location, required)] : []),
    ...ofSchema(document, `${here}/schema`, location),
  ];
}

function ofBody(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const [here, holder] = open(document, pointer, "requestBody");
  const required = { pointer: `${here}/required`, keyword: "requestBody", value: true, holder };
  return [
    ...(holder.required === true ? [toConstraint(location, required)] : []),
    ...ofContent(document, here, location),
  ];
}

function ofResponse(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const [here, holder] = open(document, pointer, "response");
  return [
    toConstraint(location, { pointer, keyword: "status", value: location.status, holder }),
    ...members(holder.headers).flatMap(([name]) => {
      const [header] = open(document, `${here}/headers${step(name)}`, "header");
      return ofNamedValue(document, header, { ...location, part: { in: "header", name } });
    }),
    ...ofContent(document, here, location),
  ];
}

function ofContent(document: Node, pointer: string, location: MessageLocation): Constraint[] {
  const { content } = locate(document, pointer)[1];
  if (content === undefined) return [];
  const value = Object.keys(content as Node);
  const types = { pointer: `${pointer}/content`, keyword: "content", value, holder: content as Node };
  const schemas = value.flatMap((mediaType) => {
    const [here] = open(document, types.pointer + step(mediaType), "mediaType");
    return ofSchema(document, `${here}/schema`, { ...location, part: { in: "body", mediaType } });
  });
  return [toConstraint(location, types), ...schemas];
}
