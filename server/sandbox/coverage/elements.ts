import { find, follow, isNode, members, type Node } from "../../../openapi/document/node.ts";
import { step, toPointer } from "../../../openapi/document/pointer.ts";
import type { SandboxSchemas } from "../../contract/document.ts";

/** An element of the contract that a call or a delivery can meet. */
export type Element = Pick<SandboxSchemas["CoverageItem"], "kind" | "name">;

export type Call = { operation: string; status: number; requestBody: unknown; responseBody: unknown };

/** The elements of a contract document, and which of them a call or an event has. */
export type Elements = {
  readonly all: readonly Element[];
  inCall(call: Call): Iterable<Element>;
  inEvent(event: { readonly type: string }): Iterable<Element>;
};

type Direction = "request" | "response" | "event";

/** A value to look at; without one, everything that a schema can have. */
type Given = { readonly value: unknown };

/** Reads the elements off a document: it names each of them, so there is no other list. */
export function readElements(document: Node): Elements {
  const operations = members(document.paths).flatMap(([path, item]) =>
    members(item).map(([method, { operationId, responses }]) => ({
      id: String(operationId),
      at: toPointer(["paths", path, method]),
      statuses: members(responses).map(([status]) => status),
    })),
  );
  const events = members(document.webhooks).map(([name]) => name);
  const codes = codesInExamples(document);

  function* inBody(at: string, direction: Direction, given?: Given): Generator<Element> {
    const [pointer, message] = find(document, at);
    for (const [type] of members(isNode(message) ? message.content : undefined)) {
      yield* fieldsOf(document, `${pointer}/content${step(type)}/schema`, direction, given);
    }
  }
  function* inOperation(id: string, call?: Call): Generator<Element> {
    const operation = operations.find((one) => one.id === id);
    if (!operation) return;
    const { at, statuses } = operation;
    yield { kind: "OPERATION", name: id };
    // A request that the contract doesn't allow has no fields of it.
    if (call?.status !== 400)
      yield* inBody(`${at}/requestBody`, "request", call && { value: call.requestBody });
    for (const status of statuses) {
      if (call && status !== String(call.status)) continue;
      yield { kind: "STATUS", name: `${id} ${status}` };
      yield* inBody(`${at}/responses/${status}`, "response", call && { value: call.responseBody });
    }
  }
  function* inEvent(type: string, given?: Given): Generator<Element> {
    if (!events.includes(type)) return;
    yield { kind: "EVENT", name: type };
    yield* inBody(`/webhooks${step(type)}/post/requestBody`, "event", given);
  }

  const known = new Map<string, Element>();
  for (const source of [
    ...operations.map(({ id }) => inOperation(id)),
    ...events.map((one) => inEvent(one)),
  ]) {
    for (const element of source) {
      // Codes without an example belong to no operation, such as that of an unknown path.
      if (element.kind !== "ERROR_CODE" || codes.has(element.name)) known.set(keyOf(element), element);
    }
  }
  const onlyKnown = (elements: Iterable<Element>) =>
    [...new Set([...elements].map(keyOf))].flatMap((key) => known.get(key) ?? []);
  return {
    all: [...known.values()],
    inCall: (call) => onlyKnown(inOperation(call.operation, call)),
    inEvent: (event) => onlyKnown(inEvent(event.type, { value: event })),
  };
}

export const keyOf = ({ kind, name }: Element) => `${kind} ${name}`;

/** The members of the wire whose values are elements, too. */
const VALUES: Readonly<Record<string, Element["kind"]>> = { errorCode: "ERROR_CODE", paymentStatus: "STATE" };

function* fieldsOf(document: Node, at: string, direction: Direction, given?: Given): Generator<Element> {
  const [pointer, schema] = find(document, at);
  if (!isNode(schema)) return;
  const {
    oneOf = [],
    items,
    properties,
  } = schema as { oneOf?: unknown[]; items?: unknown; properties?: Node };
  for (const index of oneOf.keys()) {
    const branch = `${pointer}/oneOf/${index}`;
    if (!given || hasConstants(document, branch, given.value))
      yield* fieldsOf(document, branch, direction, given);
  }
  if (items) {
    const list = given ? (Array.isArray(given.value) ? given.value : []) : [undefined];
    for (const value of list) yield* fieldsOf(document, `${pointer}/items`, direction, given && { value });
  }
  for (const name of Object.keys(properties ?? {})) {
    if (given && !(isNode(given.value) && Object.hasOwn(given.value, name))) continue;
    const inner = given && { value: (given.value as Node)[name] };
    const property = `${pointer}/properties${step(name)}`;
    yield { kind: "FIELD", name: `${direction} ${toName(property)}` };
    const kind = VALUES[name];
    if (kind)
      for (const value of inner ? [inner.value] : valuesOf(document, property))
        yield { kind, name: String(value) };
    yield* fieldsOf(document, property, direction, inner);
  }
}

/** Whether a value has the constants of a branch, by which the contract tells branches apart. */
function hasConstants(document: Node, at: string, value: unknown): boolean {
  const properties = members(follow(document, find(document, at)[1]).properties);
  const constants = properties.filter(([, schema]) => "const" in schema);
  return isNode(value) && constants.every(([name, schema]) => value[name] === schema.const);
}

function valuesOf(document: Node, at: string): readonly unknown[] {
  const schema = follow(document, find(document, at)[1]);
  const { enum: closed, "x-extensible-enum": open } = schema as {
    enum?: unknown[];
    "x-extensible-enum"?: unknown[];
  };
  return closed ?? open ?? ("const" in schema ? [schema.const] : []);
}

/** Such as `RefundRequest.amount` for `/components/schemas/RefundRequest/properties/amount`. */
function toName(pointer: string): string {
  const steps = pointer.split("/").slice(3);
  return steps.filter((name) => name !== "properties").join(".");
}

/** The error codes that the examples of the document have. */
function codesInExamples(document: Node): ReadonlySet<string> {
  const text = JSON.stringify((document.components as Node | undefined)?.examples ?? {});
  return new Set([...text.matchAll(/"errorCode":"(\w+)"/g)].map(([, code = ""]) => code));
}
