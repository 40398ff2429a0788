import { findConstraints } from "./constraints.ts";
import { find, isNode, members, type Node, walk } from "./document-node.ts";
import { holderOf, setAt, step, toPointer, valueAt } from "./pointer.ts";

/**
 * A later version of a document, in which everything has grown that may grow: extensible lists, open objects, the headers of
 * responses, events, and the objects that only callers write.
 */
export function toLaterDocument(document: Node, draw: Draw): LaterDocument {
  const schemas = findSchemas(document);
  const grown = [
    ...growOpenObjects(schemas, draw),
    ...growLists(document, schemas, draw),
    ...growHeaders(document, draw),
    ...growEvents(document, draw),
    ...growRequests(schemas, draw),
  ];
  const later = grown
    .flatMap(({ edits }) => edits)
    .reduce<Node>((changed, { pointer, value }) => setAt(changed, pointer, value), document);
  return {
    document: setAt(later, "/info/version", nextMinor(valueAt(document, "/info/version"))),
    additions: grown.map(({ addition }) => addition),
  };
}

/** A number from 0 up to 1, always the same for the same label. */
export type Draw = (label: string) => number;

/** Something that a later version adds, at a location where the document lets it grow. */
export type Addition = {
  readonly kind: "MEMBER" | "VALUE" | "EVENT" | "HEADER" | "REQUEST_FIELD";
  /** JSON Pointer to the schema, response or path item in the document that grows, references followed. */
  readonly pointer: string;
  readonly name: string;
  /** What messages have there: the value of the member or of the header; for an event the one that it resembles. */
  readonly value: unknown;
  /** Whether a response can have it; otherwise only an event can, or a request. */
  readonly inResponses: boolean;
};

export type LaterDocument = { readonly document: Node; readonly additions: readonly Addition[] };

type Edit = { readonly pointer: string; readonly value: unknown };
type Grown = { readonly addition: Addition; readonly edits: readonly Edit[] };

const SOURCE = [{ kind: "decided", decision: "D28", fills: "13.2" }];
const DESCRIPTION = "Added by a later version.";

type Used = { readonly pointer: string; readonly schema: Node; readonly sides: ReadonlySet<string> };

function findSchemas(document: Node): Used[] {
  const found = new Map<string, { pointer: string; schema: Node; sides: Set<string> }>();
  for (const { keyword, pointer: at, holder: schema, side } of findConstraints(document)) {
    if (keyword !== "type") continue;
    const pointer = holderOf(at);
    const used = found.get(pointer) ?? { pointer, schema, sides: new Set() };
    found.set(pointer, { ...used, sides: used.sides.add(side) });
  }
  return [...found.values()];
}

/** A schema and a value of each type that a new member can have. */
const MEMBERS: readonly (readonly [schema: Node, value: unknown])[] = [
  [
    { type: "object", "x-open": DESCRIPTION, properties: {} },
    { depth: { of: 2 }, names: ["First"] },
  ],
  [{ type: "string", maxLength: 64 }, "later"],
  [{ type: ["string", "null"], maxLength: 64 }, null],
  [{ type: "integer", format: "int32", minimum: 0, maximum: 1000 }, 7],
  [{ type: "boolean" }, true],
  [{ type: "array", maxItems: 10, items: { type: "string", maxLength: 64 } }, ["later"]],
];

function growOpenObjects(schemas: readonly Used[], draw: Draw): Grown[] {
  const first = Math.floor(draw("first member") * MEMBERS.length);
  const open = schemas.filter(({ schema, sides }) => "x-open" in schema && !sides.has("request"));
  return open.map(({ pointer, sides }, index) => {
    const [schema, value] = MEMBERS[(first + index) % MEMBERS.length] as (typeof MEMBERS)[number];
    const name = `later${capitalize(drawWord(draw, `member ${pointer}`))}`;
    return {
      addition: { kind: "MEMBER", pointer, name, value, inResponses: sides.has("response") },
      edits: [{ pointer: `${pointer}/properties/${name}`, value: describe(schema) }],
    };
  });
}

/** Lists that say so may gain values without a break. */
function growLists(document: Node, schemas: readonly Used[], draw: Draw): Grown[] {
  const open = schemas.filter(({ schema }) => "x-extensible-enum" in schema && !("const" in schema));
  return open.map(({ pointer, sides }) => {
    const name = `LATER_${drawWord(draw, `value ${pointer}`).toUpperCase()}`;
    return {
      addition: { kind: "VALUE", pointer, name, value: name, inResponses: sides.has("response") },
      edits: listed(document, pointer, "x-extensible-enum", [name]),
    };
  });
}

/** A list of a schema with further values, and their sources. */
function listed(document: Node, pointer: string, keyword: string, names: readonly string[]): Edit[] {
  const [list, sources] = [keyword, "x-enum-source"].map((name) => valueAt(document, `${pointer}/${name}`));
  const added = Object.fromEntries(names.map((name) => [name, SOURCE]));
  return [
    { pointer: `${pointer}/${keyword}`, value: [...(list as string[]), ...names] },
    ...(isNode(sources) ? [{ pointer: `${pointer}/x-enum-source`, value: { ...sources, ...added } }] : []),
  ];
}

function growHeaders(document: Node, draw: Draw): Grown[] {
  const name = `Later-${capitalize(drawWord(draw, "header"))}`;
  const responses = findConstraints(document).filter(
    ({ keyword, side }) => keyword === "status" && side === "response",
  );
  const pointers = new Set(responses.map(({ pointer }) => find(document, pointer)[0]));
  const header = describe({ schema: { type: "string", maxLength: 64 } });
  return [...pointers].map((pointer) => {
    const { headers } = valueAt(document, pointer) as Node;
    return {
      addition: { kind: "HEADER", pointer, name, value: "later", inResponses: true },
      edits: [{ pointer: `${pointer}/headers`, value: { ...(isNode(headers) && headers), [name]: header } }],
    };
  });
}

/** One further event of each resource, like the first event of that resource. */
function growEvents(document: Node, draw: Draw): Grown[] {
  const events = members(document.webhooks).map(([name]) => name);
  const resources = [...new Set(events.map(resourceOf))];
  const like = resources.map((resource) => events.find((name) => resourceOf(name) === resource) ?? resource);
  const names = resources.map((resource) => `${resource}.later_${drawWord(draw, `event ${resource}`)}`);
  const ofAll = nameEvents(document, new Map(names.map((name, index) => [name, like[index] ?? ""])));
  return names.map((name, index) => {
    const known = like[index] ?? "";
    return {
      addition: { kind: "EVENT", pointer: `/webhooks${step(known)}`, name, value: known, inResponses: false },
      edits: [...copyEvent(document, known, name), ...(index === 0 ? ofAll : [])],
    };
  });
}

/** What an event is about, by its name. */
const resourceOf = (event: string): string => event.split(".")[0] ?? event;

function copyEvent(document: Node, known: string, name: string): Edit[] {
  const item = valueAt(document, `/webhooks${step(known)}`) as Node;
  const [method, operation] = members(item)[0] ?? ["post", {}];
  const body = find(document, `/webhooks${step(known)}/${method}/requestBody`)[1] as Node;
  const [mediaType, media] = members(body.content)[0] ?? ["", {}];
  const [schemaAt, schema] = find(
    document,
    `/webhooks${step(known)}/${method}/requestBody/content${step(mediaType)}/schema`,
  );
  const dataAt = `${schemaAt}/properties/data`;
  const title = name.split(/[._]/).map(capitalize).join("");
  const { examples: _of, ...withoutExamples } = media;
  const content = {
    [mediaType]: { ...withoutExamples, schema: { $ref: `#/components/schemas/${title}Event` } },
  };
  const copied = { ...operation, operationId: `on${title}`, requestBody: { ...body, content } };
  return [
    { pointer: `/webhooks${step(name)}`, value: { [method]: copied } },
    {
      pointer: `/components/schemas/${title}Event`,
      value: ["/properties/type/const", "/properties/type/enum"].reduce<Node>(
        (changed, at) => setAt(changed, at, at.endsWith("const") ? name : [name]),
        setAt(schema as Node, "/properties/data", withoutConstants(find(document, dataAt)[1] as Node)),
      ),
    },
  ];
}

/** A further event has the data of its resource's other events, without values that are fixed there. */
function withoutConstants(data: Node): Node {
  const properties = members(data.properties).map(([name, { const: constant, ...property }]) => [
    name,
    constant === undefined ? property : { ...property, maxLength: 64 },
  ]);
  return { ...data, properties: Object.fromEntries(properties) };
}

/** Names the further events wherever the document lists events, and in the category of the event that they resemble. */
function nameEvents(document: Node, events: ReadonlyMap<string, string>): Edit[] {
  return [...walk(document, ["examples"])]
    .filter(({ part }) => isNode(part) && isNode(part["x-event-categories"]))
    .flatMap(({ path, part }) => {
      const { "x-event-categories": categories } = part as { "x-event-categories": Record<string, string[]> };
      const grown = Object.entries(categories).map(([category, names]) => {
        const further = [...events].filter(([, known]) => names.includes(known)).map(([name]) => name);
        return [category, [...names, ...further]];
      });
      const pointer = toPointer(path);
      return [
        ...listed(document, pointer, "enum", [...events.keys()]),
        { pointer: `${pointer}/x-event-categories`, value: Object.fromEntries(grown) },
      ];
    });
}

/** Only objects used in requests and nowhere else: a reader of a closed object may refuse another member. */
function growRequests(schemas: readonly Used[], draw: Draw): Grown[] {
  const written = schemas.filter(
    ({ schema, sides }) => schema.type === "object" && [...sides].join() === "request",
  );
  return written.map(({ pointer }) => {
    const name = `later${capitalize(drawWord(draw, `field ${pointer}`))}`;
    const value = describe({
      ...{ type: "string", maxLength: 64, pattern: "^[^\\x00]*$" },
      "x-pattern-message": "must not contain U+0000 or a lone surrogate",
    });
    return {
      addition: { kind: "REQUEST_FIELD", pointer, name, value: "later", inResponses: false },
      edits: [{ pointer: `${pointer}/properties/${name}`, value }],
    };
  });
}

const describe = (part: Node): Node => ({ description: DESCRIPTION, ...part, "x-source": SOURCE });

/** A word of three syllables that nobody uses, such as `mokusa`. */
function drawWord(draw: Draw, label: string): string {
  const letter = (letters: string, at: string) =>
    letters[Math.floor(draw(`${label} ${at}`) * letters.length)];
  return ["1", "2", "3"].map((at) => `${letter("bdfgklmnprstv", at)}${letter("aeiou", `${at}.`)}`).join("");
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function nextMinor(version: unknown): string {
  const [major, minor] = String(version).split(".");
  return `${major}.${Number(minor) + 1}.0`;
}
