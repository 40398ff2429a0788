import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Condition, type Constraint, type MessageLocation, toConstraint } from "./constraint.ts";

/** Keywords that only inform readers. A keyword that is neither here nor in RULES is an error. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "deprecated",
  "example",
  "examples",
  "discriminator", // restates the tags of `oneOf`
  "x-source",
  "x-enum-source",
  "x-transitions",
  "x-event-categories",
  "x-open",
  "x-portability",
  "x-unbounded",
  "x-pattern-message",
]);

/** One keyword of one schema at one place of a message. */
type Found = {
  readonly document: Node;
  readonly schema: Node;
  readonly keyword: string;
  readonly value: unknown;
  readonly pointer: string;
  readonly place: MessageLocation;
};

type Rule = (found: Found) => Constraint[];

/** Every constraint of the schema at `pointer`, and of those below it. Throws for an unknown keyword. */
export function constraintsOfSchema(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const [here, schema] = locate(document, pointer);
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (ANNOTATIONS.has(keyword)) return [];
    const rule = RULES[keyword];
    if (!rule) throw new Error(`no rule for the keyword ${keyword} at ${here}`);
    return rule({ document, schema, keyword, value, pointer: here + step(keyword), place });
  });
}

const itself: Rule = ({ place, pointer, keyword, value, schema }) => [
  toConstraint(place, { pointer, keyword, value, holder: schema }),
];

const eachRequired: Rule = ({ place, pointer, keyword, value, schema }) =>
  (value as string[]).map((name, index) =>
    toConstraint(below(place, name), {
      pointer: pointer + step(index),
      keyword,
      value: name,
      holder: schema,
    }),
  );

const eachDependent: Rule = ({ place, pointer, keyword, value, schema }) =>
  Object.entries(value as Record<string, string[]>).flatMap(([trigger, names]) =>
    names.map((name, index) =>
      toConstraint(below(place, name), {
        pointer: pointer + step(trigger) + step(index),
        keyword,
        value: [trigger, name],
        holder: schema,
      }),
    ),
  );

/** The format of a number names the type in generated code; its bounds are the constraint. */
const ofText: Rule = (found) =>
  [found.schema.type].flat().some((type) => type === "number" || type === "integer") ? [] : itself(found);

const ifTrue: Rule = (found) => (found.value === true ? itself(found) : []);

const closedOrOpen: Rule = (found) => {
  if (typeof found.value !== "boolean") throw new Error(`no rule for a schema at ${found.pointer}`);
  return found.value ? [] : itself(found);
};

const eachProperty: Rule = ({ document, pointer, value, place }) =>
  members(value).flatMap(([name]) => constraintsOfSchema(document, pointer + step(name), below(place, name)));

const eachItem: Rule = ({ document, pointer, place }) =>
  constraintsOfSchema(document, pointer, below(place, "*"));

const eachBranch: Rule = (found) => {
  const { document, schema, pointer, value, place } = found;
  const name = (schema.discriminator as { propertyName?: string } | undefined)?.propertyName;
  if (name === undefined) throw new Error(`no rule for a oneOf without a discriminator at ${pointer}`);
  const branches = (value as unknown[]).flatMap((_branch, index) => {
    const branch = pointer + step(index);
    const tag = tagOf(document, branch, name);
    return constraintsOfSchema(
      document,
      branch,
      under(place, { kind: "tag", at: place.at, name, value: tag }),
    );
  });
  return [...itself(found), ...branches];
};

const consequence: Rule = ({ document, keyword, pointer, place }) =>
  constraintsOfSchema(
    document,
    pointer,
    under(place, {
      kind: "if",
      at: place.at,
      pointer: pointer.slice(0, -keyword.length).concat("if"),
      holds: keyword === "then",
    }),
  );

const RULES: Readonly<Record<string, Rule>> = {
  type: itself,
  enum: itself,
  const: itself,
  not: itself,
  minLength: itself,
  maxLength: itself,
  pattern: itself,
  format: ofText,
  minimum: itself,
  maximum: itself,
  exclusiveMinimum: itself,
  exclusiveMaximum: itself,
  "x-fraction-digits": itself,
  "x-extensible-enum": itself,
  minItems: itself,
  maxItems: itself,
  uniqueItems: ifTrue,
  minProperties: itself,
  maxProperties: itself,
  required: eachRequired,
  dependentRequired: eachDependent,
  additionalProperties: closedOrOpen,
  unevaluatedProperties: closedOrOpen,
  properties: eachProperty,
  items: eachItem,
  oneOf: eachBranch,
  if: itself,
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema; the table is never awaited.
  then: consequence,
  else: consequence,
};

function tagOf(document: Node, branch: string, name: string): string {
  const [here, schema] = locate(document, branch);
  const tag = (schema.properties as Record<string, Node> | undefined)?.[name]?.const;
  if (typeof tag !== "string") throw new Error(`the branch at ${here} has no const ${name}`);
  return tag;
}

function below(place: MessageLocation, name: string): MessageLocation {
  return { ...place, at: place.at + step(name) };
}

function under(place: MessageLocation, condition: Condition): MessageLocation {
  return { ...place, when: [...place.when, condition] };
}
