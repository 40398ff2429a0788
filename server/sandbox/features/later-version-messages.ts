import { createHash } from "node:crypto";
import { find, isNode, type Node } from "../../../openapi/document/document-node.ts";
import { type Addition, type Draw, toLaterDocument } from "../../../openapi/document/later-version.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type ContractDocument, readDocument } from "../../contract/contract-document.ts";
import { resourceKind } from "../../domain/event-payloads.ts";

/** Draws a later version of the published contract: the same for the same seed. */
export async function createLaterApi(seed: number): Promise<LaterApi> {
  const published = readDocument("openapi") as unknown as Node;
  const draw: Draw = (label) =>
    createHash("sha256").update(`${seed} ${label}`).digest().readUInt32BE() / 2 ** 32;
  const { document, additions } = toLaterDocument(published, draw);
  const added = (kind: Addition["kind"]) => additions.filter((addition) => addition.kind === kind);
  const laterWords = added("EVENT").map(({ name }) => JSON.stringify(name));
  const laterFields = new Set(added("REQUEST_FIELD").map(({ name }) => name));
  // The event of a refund repeats what its response says, so both get the same values.
  const withValues = growLists(added("VALUE"));
  const withMembers = growObject(added("MEMBER"), draw);
  const rewordText = reword(draw);
  const revise = (value: unknown, pointer: string, label: string) =>
    mapParts(document, { value, pointer, label }, (part) => {
      const reworded = rewordText({ ...part, value: withValues(part) });
      return withMembers({ ...part, value: reworded });
    });

  return {
    seed,
    document: document as unknown as ContractDocument,
    additions,
    headersOf(location) {
      const [here] = find(document, pointerTo(location));
      const headers = added("HEADER").filter(({ pointer }) => pointer === here);
      return Object.fromEntries(headers.map(({ name, value }) => [name, String(value)]));
    },
    reviseBody(location, mediaType, text) {
      const [here] = find(document, pointerTo(location));
      const revised = revise(JSON.parse(text), `${here}/content${step(mediaType)}/schema`, text);
      return JSON.stringify(withTypeOfCode(revised));
    },
    reviseEvent(payload) {
      const event = JSON.parse(payload);
      return JSON.stringify(revise(event, pointerToEvent(document, event.type), payload));
    },
    furtherEventsOf(payload) {
      if (laterWords.some((word) => payload.includes(word))) return [];
      const event = JSON.parse(payload);
      const kind = resourceKind(event.type);
      const { paymentId, accountId, customerId } = event.data;
      const toFurther = (further: Node & { readonly type: string }): FurtherEvent => ({
        type: further.type,
        kind,
        resourceId: paymentId ?? accountId ?? customerId,
        toPayload: (sequence) => JSON.stringify({ ...further, sequence }),
      });
      const like = added("EVENT").filter(({ name }) => resourceKind(name) === kind);
      return like.map(({ name }) => toFurther({ ...event, type: name }));
    },
    withoutLaterFields: (body) => without(body, laterFields),
  };
}

/** Such as `{ path: "/v1/refunds", method: "post", status: 201 }`. */
export type ResponseLocation = { readonly path: string; readonly method: string; readonly status: number };

/** An event that follows another one of the same resource; `toPayload` gets its number among the events of that resource. */
export type FurtherEvent = {
  readonly type: string;
  readonly kind: string;
  readonly resourceId: string;
  toPayload(sequence: number): string;
};

/** Turns what the service sends into what a later version of it sends. */
export type LaterApi = {
  readonly seed: number;
  /** The contract of the later version. */
  readonly document: ContractDocument;
  readonly additions: readonly Addition[];
  /** The headers that the later version adds to a response. */
  headersOf(response: ResponseLocation): Readonly<Record<string, string>>;
  reviseBody(response: ResponseLocation, mediaType: string, text: string): string;
  /** The same for the same text, because every attempt of a delivery sends the same bytes (D21). */
  reviseEvent(payload: string): string;
  /** What follows an event of the published version; nothing follows one of the later version. */
  furtherEventsOf(payload: string): FurtherEvent[];
  /** A body without the fields that only the later version knows. */
  withoutLaterFields(body: unknown): unknown;
};

/** A value, the pointer to its schema, references followed, and what its draws are named after. */
type Part = { readonly value: unknown; readonly pointer: string; readonly label: string };

/** Copies a value and changes each of its parts, the inner ones first. Parts that the document does not describe stay. */
function mapParts(
  document: Node,
  { value, pointer, label }: Part,
  change: (part: Part & { schema: Node }) => unknown,
): unknown {
  const [here, schema] = find(document, pointer);
  if (!isNode(schema)) return value;
  const below = (part: unknown, name: string | number, at: string) =>
    mapParts(document, { value: part, pointer: here + at, label: `${label} ${name}` }, change);
  let mapped = value;
  if (Array.isArray(value)) mapped = value.map((item, index) => below(item, index, "/items"));
  else if (isNode(value)) {
    const members = Object.entries(value);
    mapped = Object.fromEntries(
      members.map(([name, part]) => [name, below(part, name, `/properties${step(name)}`)]),
    );
  }
  return change({ value: mapped, pointer: here, schema, label });
}

function growLists(lists: readonly Addition[]) {
  return ({ value, pointer }: Part) => lists.find((list) => list.pointer === pointer)?.name ?? value;
}

/** Adds the members of the later version, and puts all members into another order. */
function growObject(members: readonly Addition[], draw: Draw) {
  return ({ value, pointer, label }: Part) => {
    if (!isNode(value)) return value;
    const added = members
      .filter((member) => member.pointer === pointer)
      .map(({ name, value: laterValue }) => [name, laterValue] as const);
    const drawn = [...Object.entries(value), ...added].map(([name, part]) => ({
      entry: [name, part] as const,
      order: draw(`${label} ${name}`),
    }));
    return Object.fromEntries(drawn.toSorted((a, b) => a.order - b.order).map(({ entry }) => entry));
  };
}

/** The same words in another order: a program that compares the text notices, and a person still understands it. */
function reword(draw: Draw) {
  return ({ value, schema, label }: Part & { schema: Node }) => {
    if (!("x-wording" in schema) || typeof value !== "string") return value;
    const words = value.split(" ");
    const first = 1 + Math.floor(draw(label) * (words.length - 1));
    return words.length === 1
      ? value.toUpperCase()
      : [...words.slice(first), ...words.slice(0, first)].join(" ");
  };
}

/** There is one `type` for each `errorCode` of a problem. */
function withTypeOfCode(body: unknown): unknown {
  if (!isNode(body) || typeof body.type !== "string" || !isNode(body.errorDetails)) return body;
  const code = String(body.errorDetails.errorCode);
  return { ...body, type: `/problems/${code.toLowerCase().replaceAll("_", "-")}` };
}

function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, names));
  if (!isNode(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !names.has(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, without(part, names)]));
}

function pointerTo({ path, method, status }: ResponseLocation): string {
  return `/paths${step(path)}/${method}/responses/${status}`;
}

function pointerToEvent(document: Node, type: string): string {
  const [body] = find(document, `/webhooks${step(type)}/post/requestBody`);
  return `${body}/content/application~1json/schema`;
}
