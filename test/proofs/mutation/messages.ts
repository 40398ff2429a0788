/** Responses and webhooks that the contract allows or forbids. A mutant that judges one differently is detected. */
import { type Constraint, findConstraints } from "../../../openapi/document/constraints.ts";
import { follow, isNode, members, type Node, walk } from "../../../openapi/document/document-node.ts";
import { KEYWORDS } from "../../../openapi/document/known-keywords.ts";
import { type OperationAt, operationsOf } from "../../../openapi/document/list-operations.ts";
import { holderOf, isHolder, nameAt, setAt, toPointer, valueAt } from "../../../openapi/document/pointer.ts";
import { type Contract, toContract } from "../../../openapi/document/read-contract.ts";
import { createDeliveryCheck } from "../../conformance/constraints/delivery-check.ts";
import { type Edit, edit } from "../../conformance/constraints/json-edits.ts";

/** A response, or the delivery of an event. */
type Message = {
  readonly name: string;
  readonly operation: string;
  /** Of a response; deliveries have an event. */
  readonly status?: number;
  readonly event?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: without a body. */
  readonly body: unknown;
  /** Of the constraint at whose limits it is. */
  readonly pointer?: string;
};

/** A message that a document allows or not. */
export type JudgedMessage = Message & { readonly allowed: boolean };

/** The examples of all responses and events, and each with a value at a limit of a constraint or beyond. */
export function deriveMessages(document: Node): JudgedMessage[] {
  const contract = toContract(document);
  const examples = operationsOf(document).flatMap((at) => examplesOf(document, at));
  const isAllowed = judgeBy(contract);
  const all = [
    ...examples.flatMap((example) => [example, ...asAnotherKind(example, examples)]),
    ...findConstraints(document)
      .filter(isFirstThere)
      .flatMap((constraint) => atLimits(document, constraint, examples)),
  ];
  return [
    ...new Map(all.map((message) => [message.name, { ...message, allowed: isAllowed(message) }])).values(),
  ];
}

/** The names of the messages about which a document says something else. */
export function* wrongMessages(contract: Contract, messages: readonly JudgedMessage[]): Generator<string> {
  const isAllowed = judgeBy(contract);
  for (const message of messages) if (message.allowed !== isAllowed(message)) yield message.name;
}

function judgeBy(contract: Contract): (message: Message) => boolean {
  const findDeliveryErrors = createDeliveryCheck(contract.document);
  return ({ operation, status, event = "", headers, body }) => {
    if (status === undefined) return findDeliveryErrors({ event, headers, body }).length === 0;
    return contract.violationsOf(operation, { status, headers: new Headers(headers), body }).length === 0;
  };
}

function examplesOf(document: Node, { kind, path, operation }: OperationAt): Message[] {
  const id = String(operation.operationId);
  if (kind === "webhooks") {
    const parameters = members(operation.parameters).map(([, parameter]) => follow(document, parameter));
    const headers = Object.fromEntries(parameters.map((parameter) => [parameter.name, sampleOf(parameter)]));
    const event = { operation: id, event: path, headers, name: path, body: undefined };
    return withBodies(document, operation.requestBody, event);
  }
  return members(operation.responses).flatMap(([status, given]) => {
    const response = follow(document, given);
    const headers = members(response.headers).map(([name, header]) => [
      name,
      sampleOf(follow(document, header)),
    ]);
    const empty = { operation: id, status: Number(status), headers: Object.fromEntries(headers) };
    return withBodies(document, response, { ...empty, name: `${id} ${status}`, body: undefined });
  });
}

/** The message with each of the document's bodies for it, in every media type. */
function withBodies(document: Node, part: unknown, message: Message): Message[] {
  return members(follow(document, part).content).flatMap(([type, { examples }]) =>
    members(examples).map(([name, example]) => ({
      ...message,
      name: `${message.name} ${name} as ${type}`,
      headers: { ...message.headers, "content-type": type },
      body: follow(document, example).value,
    })),
  );
}

function sampleOf({ example, examples, schema }: Node): string {
  const [first] = members(examples);
  return String(example ?? first?.[1].value ?? ((schema as Node).type === "integer" ? 1 : "x"));
}

/** For any header. */
const TOO_LONG = "x".repeat(1000);
const UNDOCUMENTED = [200, 201, 202, 204, 301, 402, 404, 405, 410, 418, 422, 501, 502, 504];
const TYPES = ["text/plain", "application/xml", "application/json", "application/problem+json"];

/** The message with parts of another kind: its status, media type and body, without each header, and with members of a later version. */
function asAnotherKind(message: Message, examples: readonly Message[]): Message[] {
  const { name, operation, status, headers, body } = message;
  const bodies = examples.filter((example) => example.operation === operation).map((example) => example.body);
  const changed = (how: string, change: Partial<Message>) => ({
    ...message,
    name: `${name} ${how}`,
    ...change,
  });
  return [
    ...(status === undefined ? [] : UNDOCUMENTED).map((undocumented) =>
      changed(`with status ${undocumented}`, { status: undocumented }),
    ),
    ...TYPES.map((type) => changed(`sent as ${type}`, { headers: { ...headers, "content-type": type } })),
    ...Object.keys(headers).flatMap((header) => {
      const { [header]: _, ...others } = headers;
      const long = { ...headers, [header]: TOO_LONG };
      return [
        changed(`without ${header}`, { headers: others }),
        changed(`with a long ${header}`, { headers: long }),
      ];
    }),
    ...[undefined, {}, ...bodies].map((body, index) => changed(`with body ${index}`, { body })),
    ...[...walk(body)]
      .filter(({ part }) => isNode(part))
      .map(({ path }) => toPointer(path))
      .map((at) => changed(`with a member at ${at}`, { body: setAt(body, `${at}/later`, 1) })),
  ];
}

/** Messages share most schemas, so each part of the document is tried in the first message that has it at a location. */
function isFirstThere({ pointer, at, side }: Constraint, index: number, all: readonly Constraint[]): boolean {
  return (
    side !== "request" && all.findIndex((limit) => limit.pointer === pointer && limit.at === at) === index
  );
}

/** The examples with the values of a constraint's keyword, at the location that it limits. */
function atLimits(document: Node, constraint: Constraint, examples: readonly Message[]): Message[] {
  const { operationId, status, part, keyword, id, pointer } = constraint;
  const ofOperation = examples.filter(
    (example) => example.operation === operationId && [undefined, String(example.status)].includes(status),
  );
  return ofOperation.flatMap((message) => {
    const { headers, body, name } = message;
    if (part.in === "header")
      return textsFor(constraint, headers[part.name])
        .map((json): unknown => JSON.parse(json))
        .filter((text) => /^[\x20-\x7e]*$/.test(String(text)) && !isHolder(text))
        .map((text) => {
          const changed = { ...headers, [part.name]: `${text}` };
          return { ...message, pointer, name: `${name}: ${id} ${text} (${typeof text})`, headers: changed };
        });
    if (part.in !== "body") return [];
    const changes =
      keyword === "not"
        ? forbidden(message, constraint, examples)
        : values(document, body, constraint, examples);
    return changes.map((change) => ({
      ...message,
      pointer,
      name: `${name}: ${id} ${change.json}`,
      body: edit(body, change),
    }));
  });
}

/** The values at and beyond the limit of a constraint. */
function values(document: Node, body: unknown, constraint: Constraint, examples: readonly Message[]): Edit[] {
  const { at, keyword, value, holder, when } = constraint;
  const isAboutMembers = keyword === "required" || keyword === "dependentRequired";
  const pointer = (isAboutMembers ? holderOf(at) : at).replaceAll("*", "0");
  const found = valueAt(body, pointer);
  const current = isNode(found) ? { ...found, ...constantsOf(document, when) } : found;
  const texts =
    keyword === "dependentRequired" && isNode(current)
      ? [JSON.stringify(withoutDependent(current, holder, value as [string, string]))]
      : textsFor(constraint, current);
  // A member that no example of this message has, as other messages have it.
  if (keyword === "required" && isNode(current) && current[nameAt(at)] === undefined)
    texts.push(JSON.stringify({ ...current, [nameAt(at)]: shownAs(nameAt(at), examples) }));
  return texts.map((json) => ({ pointer, json }));
}

/** A member that is forbidden in the message, and that other examples have. */
function forbidden({ body }: Message, { at }: Constraint, examples: readonly Message[]): Edit[] {
  const isThere = valueAt(body, holderOf(at)) !== undefined;
  return isThere ? [{ pointer: at, json: JSON.stringify(shownAs(nameAt(at), examples)) }] : [];
}

/** The member of this name in any of the examples, if it is an object there. */
function shownAs(name: string, examples: readonly Message[]): unknown {
  const shown = examples.flatMap((example) => [...walk(example.body)]);
  return shown.find(({ path, part }) => path.at(-1) === name && isNode(part))?.part ?? null;
}

/** The members with which an object meets the conditions of a constraint, such as `paymentStatus: "TERMINAL_FAILED"`. */
function constantsOf(document: Node, when: Constraint["when"]): Node {
  const properties = when.flatMap((condition) =>
    condition.kind === "if" && condition.holds
      ? members((valueAt(document, condition.pointer) as Node).properties)
      : [],
  );
  return Object.fromEntries(properties.map(([name, schema]) => [name, schema.const]));
}

/** The object with one member, all that it needs because of that one, and without one of these. */
function withoutDependent(
  current: Node,
  { required = [], dependentRequired = {} }: Node,
  [trigger, name]: readonly [string, string],
): Node {
  const needed = (dependentRequired as Record<string, string[]>)[trigger] ?? [];
  const kept = [...(required as string[]), trigger, ...needed].filter((member) => member !== name);
  return Object.fromEntries(Object.entries(current).filter(([member]) => kept.includes(member)));
}

/** Characters next to the ends of the classes that patterns have, and a digit more or less. */
const NEIGHBOURS = ["/", ":", "`", "g", "@", "A", "G", "_", "0", "9", "a", "f", "00", ""];

function textsFor({ keyword, value, holder }: Constraint, current: unknown): string[] {
  if (current === undefined) return [];
  const { obeying, breaking } = KEYWORDS[keyword] ?? {};
  const occurrence = { value, schema: holder, current, others: [] };
  const text = keyword === "pattern" && typeof current === "string" ? current : "";
  const replaced = [...text].flatMap((_, index) =>
    NEIGHBOURS.map((neighbour) => JSON.stringify(text.slice(0, index) + neighbour + text.slice(index + 1))),
  );
  return [...(obeying?.(occurrence) ?? []), ...(breaking?.(occurrence) ?? []), ...replaced];
}
