import { type Constraint, findConstraints } from "../../../openapi/document/constraints.ts";
import { type Contract, toContract } from "../../../openapi/document/contract.ts";
import { KEYWORDS } from "../../../openapi/document/keywords.ts";
import { find, follow, isNode, members, type Node, walk } from "../../../openapi/document/node.ts";
import { operationsOf } from "../../../openapi/document/operations.ts";
import { holderOf, isHolder, nameAt, step, toPointer, valueAt } from "../../../openapi/document/pointer.ts";
import { createDeliveryCheck } from "../../conformance/constraints/deliveries.ts";
import { edit } from "../../conformance/constraints/json.ts";

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
      .filter(isFirstAtPointer)
      .flatMap((constraint) => atLimits(document, constraint, examples)),
  ];
  return [...new Map(all.map((one) => [one.name, { ...one, allowed: isAllowed(one) }])).values()];
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

function examplesOf(
  document: Node,
  { kind, path, pointer, operation }: ReturnType<typeof operationsOf>[number],
): Message[] {
  const id = String(operation.operationId);
  if (kind === "webhooks") {
    const headers = members(operation.parameters).map(([, parameter]) => {
      const { name, ...rest } = follow(document, parameter);
      return [name, sampleOf(rest)];
    });
    const event = { operation: id, event: path, headers: Object.fromEntries(headers) };
    return withBodies(document, `${pointer}/requestBody`, { ...event, name: path, body: undefined });
  }
  return members(operation.responses).flatMap(([status]) => {
    const [here, response] = find(document, `${pointer}/responses${step(status)}`) as [string, Node];
    const headers = members(response.headers).map(([name, header]) => [
      name,
      sampleOf(follow(document, header)),
    ]);
    const empty = { operation: id, status: Number(status), headers: Object.fromEntries(headers) };
    return withBodies(document, here, { ...empty, name: `${id} ${status}`, body: undefined });
  });
}

/** The message with each of the document's bodies for it, in every media type. */
function withBodies(document: Node, pointer: string, message: Message): Message[] {
  return members(follow(document, valueAt(document, pointer)).content).flatMap(([type, { examples }]) =>
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

/** The message with parts of another kind: its status, media type and body, without each header, and with members of a later version. */
function asAnotherKind(message: Message, examples: readonly Message[]): Message[] {
  const { name, operation, status, headers, body } = message;
  const bodies = examples.filter((other) => other.operation === operation).map((other) => other.body);
  const objects = [...walk(body)].filter(({ part }) => isNode(part));
  const types = ["text/plain", "application/xml", "application/json", "application/problem+json"];
  return [
    ...UNDOCUMENTED.flatMap((other) =>
      status === undefined ? [] : [{ ...message, name: `${name} with status ${other}`, status: other }],
    ),
    ...types.map((type) => ({
      ...message,
      name: `${name} sent as ${type}`,
      headers: { ...headers, "content-type": type },
    })),
    ...Object.keys(headers).flatMap((header) => {
      const { [header]: _, ...others } = headers;
      return [
        { ...message, name: `${name} without ${header}`, headers: others },
        { ...message, name: `${name} with a long ${header}`, headers: { ...headers, [header]: TOO_LONG } },
      ];
    }),
    ...[undefined, {}, ...bodies].map((other, index) => ({
      ...message,
      name: `${name} with body ${index}`,
      body: other,
    })),
    ...objects.map(({ path, part }) => {
      const change = {
        pointer: toPointer(path),
        json: JSON.stringify({ ...(part as object), ofLaterVersion: 1 }),
      };
      return { ...message, name: `${name} with a member at ${change.pointer}`, body: edit(body, change) };
    }),
  ];
}

/** Messages share most schemas, so each part of the document is tried in the first message that has it. */
function isFirstAtPointer({ pointer, side }: Constraint, index: number, all: readonly Constraint[]): boolean {
  return side !== "request" && all.findIndex((one) => one.pointer === pointer) === index;
}

/** The examples with the values of a constraint's keyword, at the location that it limits. */
function atLimits(document: Node, constraint: Constraint, examples: readonly Message[]): Message[] {
  const { operationId, status, part } = constraint;
  const own = examples.filter(
    (one) => one.operation === operationId && [undefined, String(one.status)].includes(status),
  );
  if (part.in === "header") return own.flatMap((message) => withHeaders(message, constraint, part.name));
  if (part.in !== "body") return [];
  if (constraint.keyword === "not")
    return own.flatMap((message) => withForbidden(message, constraint, examples));
  return own.flatMap((message) => withValues(document, message, constraint));
}

function withValues(
  document: Node,
  message: Message,
  { at, keyword, value, holder, id, when }: Constraint,
): Message[] {
  const isAboutMembers = keyword === "required" || keyword === "dependentRequired";
  const pointer = (isAboutMembers ? holderOf(at) : at).replaceAll("*", "0");
  const found = valueAt(message.body, pointer);
  const current = isNode(found) ? { ...found, ...constantsOf(document, when) } : found;
  const texts =
    keyword === "dependentRequired" && isNode(current)
      ? [JSON.stringify(withoutDependent(current, holder, value as [string, string]))]
      : textsFor({ keyword, value, holder, current });
  return texts.map((json) => ({
    ...message,
    name: `${message.name}: ${id} ${json}`,
    body: edit(message.body, { pointer, json }),
  }));
}

/** The message with a member that is forbidden in it, and that other examples have. */
function withForbidden(message: Message, { at, id }: Constraint, examples: readonly Message[]): Message[] {
  const shown = examples.flatMap(({ body }) => [...walk(body)]);
  const found = shown.find(({ path, part }) => path.at(-1) === nameAt(at) && isNode(part));
  if (valueAt(message.body, holderOf(at)) === undefined) return [];
  const body = edit(message.body, { pointer: at, json: JSON.stringify(found?.part ?? null) });
  return [{ ...message, name: `${message.name}: ${id}`, body }];
}

/** The members with which an object meets the conditions of a constraint, such as `paymentStatus: "TERMINAL_FAILED"`. */
function constantsOf(document: Node, when: Constraint["when"]): Node {
  const conditions = when.filter((one) => one.kind === "if" && one.holds);
  const properties = conditions.flatMap((one) =>
    members((valueAt(document, "pointer" in one ? one.pointer : "") as Node).properties),
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

function withHeaders(message: Message, { keyword, value, holder, id }: Constraint, name: string): Message[] {
  const current = message.headers[name];
  return textsFor({ keyword, value, holder, current }).flatMap((json) => {
    const text: unknown = JSON.parse(json);
    return /^[\x20-\x7e]*$/.test(String(text)) && !isHolder(text)
      ? [
          {
            ...message,
            name: `${message.name}: ${id} ${json}`,
            headers: { ...message.headers, [name]: `${text}` },
          },
        ]
      : [];
  });
}

/** Characters next to the ends of the classes that patterns have, and a digit more or less. */
const NEIGHBOURS = ["/", ":", "`", "g", "@", "A", "G", "_", "0", "9", "a", "f", "00", ""];

function textsFor({
  keyword,
  value,
  holder,
  current,
}: Pick<Constraint, "keyword" | "value" | "holder"> & { readonly current: unknown }): string[] {
  if (current === undefined) return [];
  const { obeying, breaking } = KEYWORDS[keyword] ?? {};
  const occurrence = { value, schema: holder, current, others: [] };
  const replaced =
    keyword === "pattern" && typeof current === "string"
      ? [...current].flatMap((_, index) =>
          NEIGHBOURS.map((one) => JSON.stringify(current.slice(0, index) + one + current.slice(index + 1))),
        )
      : [];
  return [...(obeying?.(occurrence) ?? []), ...(breaking?.(occurrence) ?? []), ...replaced];
}
