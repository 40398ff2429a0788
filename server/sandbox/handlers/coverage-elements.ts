import { find, follow, isNode, members, type Node } from "../../../openapi/document/node.ts";
import { operationsOf } from "../../../openapi/document/operations.ts";
import { step, stepsOf } from "../../../openapi/document/pointer.ts";
import type { SandboxSchemas } from "../../contract/document.ts";

/** An element of the contract that a call or a delivery can meet. */
export type Element = Pick<SandboxSchemas["CoverageItem"], "kind" | "name">;

export type Call = { operation: string; status: number; requestBody: unknown; responseBody: unknown };

/** The elements of a contract document, and which of them a call or an event has. */
export type Elements = {
  readonly all: readonly Element[];
  /** Those of `all` that a call has, each once. */
  inCall(call: Call): ReadonlySet<Element>;
  inEvent(event: { readonly type: string }): ReadonlySet<Element>;
};

type Direction = "request" | "response" | "event";

/** Called with each element, some of them several times. */
type Meet = (kind: Element["kind"], name: string) => void;

/** A value to look at; without one, everything that a schema can have. */
type Given = { readonly value: unknown };

/** Reads the elements off a document: it names each of them, so there is no other list. */
export function readElements(document: Node): Elements {
  const partsOf = (at: string, direction: Direction) => {
    const [pointer, message] = find(document, at);
    const content = members(isNode(message) ? message.content : undefined);
    return content.map(([type]) => readPart(document, `${pointer}/content${step(type)}/schema`, direction));
  };
  const operations = operationsOf(document, ["paths"]).map(({ pointer, operation }) => ({
    id: String(operation.operationId),
    request: partsOf(`${pointer}/requestBody`, "request"),
    responses: members(operation.responses).map(([status]) => {
      return { status, parts: partsOf(`${pointer}/responses/${status}`, "response") };
    }),
  }));
  const events = operationsOf(document, ["webhooks"]).map(({ path: name, pointer }) => {
    return { name, parts: partsOf(`${pointer}/requestBody`, "event") };
  });
  const codes = codesInExamples(document);

  function meetOperation(meet: Meet, id: string, call?: Call): void {
    const operation = operations.find((one) => one.id === id);
    if (!operation) return;
    meet("OPERATION", id);
    // A request that the contract doesn't allow has no fields of it.
    if (call?.status !== 400)
      for (const part of operation.request) meetPart(meet, part, call && { value: call.requestBody });
    for (const { status, parts } of operation.responses) {
      if (call && status !== String(call.status)) continue;
      meet("STATUS", `${id} ${status}`);
      for (const part of parts) meetPart(meet, part, call && { value: call.responseBody });
    }
  }
  function meetEvent(meet: Meet, type: string, given?: Given): void {
    const event = events.find(({ name }) => name === type);
    if (!event) return;
    meet("EVENT", type);
    for (const part of event.parts) meetPart(meet, part, given);
  }

  const all: Element[] = [];
  /** By kind and name. */
  const known = new Map<string, Map<string, Element>>();
  const learn: Meet = (kind, name) => {
    const ofKind = known.get(kind) ?? new Map<string, Element>();
    // Codes without an example belong to no operation, such as that of an unknown path.
    if (ofKind.has(name) || (kind === "ERROR_CODE" && !codes.has(name))) return;
    const element = { kind, name };
    all.push(element);
    known.set(kind, ofKind.set(name, element));
  };
  for (const { id } of operations) meetOperation(learn, id);
  for (const { name } of events) meetEvent(learn, name);
  const collect = (run: (meet: Meet) => void) => {
    const met = new Set<Element>();
    run((kind, name) => {
      const element = known.get(kind)?.get(name);
      if (element) met.add(element);
    });
    return met;
  };
  return {
    all,
    inCall: (call) => collect((meet) => meetOperation(meet, call.operation, call)),
    inEvent: (event) => collect((meet) => meetEvent(meet, event.type, { value: event })),
  };
}

/** The members of the wire whose values are elements, too. */
const VALUES: Readonly<Record<string, Element["kind"]>> = { errorCode: "ERROR_CODE", paymentStatus: "STATE" };

/** What a schema describes, with its references followed: to follow them for each call would take longer than a refund. */
type Part = {
  readonly branches: readonly { readonly constants: readonly [string, unknown][]; readonly part: Part }[];
  readonly items: Part | undefined;
  readonly fields: readonly {
    readonly name: string;
    /** Such as `request RefundRequest.amount`. */
    readonly fullName: string;
    /** The kind of its values, if they are elements. */
    readonly kind: Element["kind"] | undefined;
    readonly values: readonly unknown[];
    readonly part: Part;
  }[];
};

function readPart(document: Node, at: string, direction: Direction): Part {
  const [pointer, schema] = find(document, at);
  const { oneOf, items, properties } = isNode(schema) ? schema : {};
  return {
    branches: [...((oneOf ?? []) as unknown[]).keys()].map((index) => {
      const branch = `${pointer}/oneOf/${index}`;
      return { constants: constantsOf(document, branch), part: readPart(document, branch, direction) };
    }),
    items: items ? readPart(document, `${pointer}/items`, direction) : undefined,
    fields: members(properties).map(([name]) => {
      const property = `${pointer}/properties${step(name)}`;
      const kind = VALUES[name];
      return {
        name,
        fullName: `${direction} ${toName(property)}`,
        kind,
        values: kind ? valuesOf(document, property) : [],
        part: readPart(document, property, direction),
      };
    }),
  };
}

function meetPart(meet: Meet, { branches, items, fields }: Part, given?: Given): void {
  for (const { constants, part } of branches)
    if (!given || hasConstants(given.value, constants)) meetPart(meet, part, given);
  if (items) {
    const list = given ? (Array.isArray(given.value) ? given.value : []) : [undefined];
    for (const value of list) meetPart(meet, items, given && { value });
  }
  for (const { name, fullName, kind, values, part } of fields) {
    if (given && !(isNode(given.value) && Object.hasOwn(given.value, name))) continue;
    const inner = given && { value: (given.value as Node)[name] };
    meet("FIELD", fullName);
    if (kind) for (const value of inner ? [inner.value] : values) meet(kind, String(value));
    meetPart(meet, part, inner);
  }
}

/** The constants by which the contract tells a branch apart from others. */
function constantsOf(document: Node, at: string): [string, unknown][] {
  const properties = members(follow(document, find(document, at)[1]).properties);
  return properties.flatMap(([name, schema]) => ("const" in schema ? [[name, schema.const]] : []));
}

function hasConstants(value: unknown, constants: readonly [string, unknown][]): boolean {
  return isNode(value) && constants.every(([name, constant]) => value[name] === constant);
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
  const [, , ...steps] = stepsOf(pointer);
  return steps.filter((name) => name !== "properties").join(".");
}

/** The error codes that the examples of the document have. */
function codesInExamples(document: Node): ReadonlySet<string> {
  const text = JSON.stringify((document.components as Node | undefined)?.examples ?? {});
  return new Set([...text.matchAll(/"errorCode":"(\w+)"/g)].map(([, code = ""]) => code));
}
