/** Finds bodies that break exactly one constraint, or just obey it, by changing valid examples. */
import type { Condition, Constraint } from "../../../openapi/document/constraints.ts";
import { isNode, members, type Node } from "../../../openapi/document/document-node.ts";
import { FORMAT_SAMPLES, stepsBeyond } from "../../../openapi/document/keyword-test-values.ts";
import { KEYWORDS } from "../../../openapi/document/known-keywords.ts";
import { holderOf, step, stepsOf, valueAt } from "../../../openapi/document/pointer.ts";
import { type Edit, edit, type Violation, write } from "./json-edits.ts";

export type BodyModel = {
  /** With every reference followed. */
  readonly schema: Node;
  /** The constraints of the body only. */
  readonly constraints: readonly Constraint[];
  /** The document's own examples, which are all valid. */
  readonly examples: readonly unknown[];
  violationsOf(body: unknown): Violation[];
};

/** A change of a valid body, and the violation that it causes. */
export type BodyChange = Edit & {
  readonly body: unknown;
  readonly base: "smallest" | "fullest";
  readonly violation: string;
};

/**
 * Changes that make one value invalid, by one constraint. Those that violate another constraint of that value as well are used only
 * if there are no others. Throws when there is none at all, so that no constraint stays untested.
 */
export function breakingChanges(model: BodyModel, constraint: Constraint): BodyChange[] {
  const { keyword, id } = constraint;
  const changes = changesAt(model, constraint, "breaking").flatMap((change) => {
    const violations = model.violationsOf(edit(change.body, change));
    const [violation] = violations;
    // Only our own validator knows extensions; to others, values that violate them look valid.
    if (keyword.startsWith("x-") && !violation) return { ...change, alone: true };
    if (!violation?.keywords.has(keyword) || violations.length > 1) return [];
    return { ...change, violation: violation.pointer, alone: violation.keywords.size === 1 };
  });
  if (changes.length === 0) throw new Error(`no request breaks only: ${id}`);
  const alone = changes.filter((change) => change.alone);
  return alone.length > 0 ? alone : changes;
}

/** Changes to the limits of a constraint; the fullest body is only sent unchanged. */
export function acceptedChanges(model: BodyModel, constraint: Constraint): BodyChange[] {
  return changesAt(model, constraint, "obeying")
    .filter(({ base }) => base === "smallest" || constraint.keyword === "type")
    .filter((change) => model.violationsOf(edit(change.body, change)).length === 0);
}

function changesAt(model: BodyModel, constraint: Constraint, kind: "breaking" | "obeying"): BodyChange[] {
  const { at, keyword, value, holder, when } = constraint;
  const others = othersAt(model, constraint);
  const changes = (["smallest", "fullest"] as const).flatMap((base) => {
    if (base === "fullest" && isDeprecated(model, at)) return [];
    const body = withLocation(model, constraint, baseOf(model, base, when));
    return instancesOf(body, keyword === "required" ? holderOf(at) : at).flatMap((pointer) => {
      const occurrence = { value, schema: holder, current: valueAt(body, pointer), others };
      const texts = KEYWORDS[keyword]?.[kind]?.(occurrence) ?? [];
      return texts.map((json) => ({ base, body, pointer, json, violation: pointer }));
    });
  });
  // The two bases of a body without optional members are the same, and values may repeat.
  return [...new Map(changes.toReversed().map((one) => [write(one.body, one), one])).values()].toReversed();
}

/** The smallest or the fullest valid body under some conditions, from an example that meets them. */
export function baseOf(
  { schema, examples }: Pick<BodyModel, "schema" | "examples">,
  size: BodyChange["base"],
  when: readonly Condition[] = [],
): unknown {
  const shown = examples.find((example) => holds(example, when));
  if (shown === undefined) throw new Error(`no example of a body in which ${JSON.stringify(when)}`);
  return resize(schema, shown, size);
}

function holds(body: unknown, when: readonly Condition[]): boolean {
  return when.every(
    (condition) =>
      condition.kind === "tag" && valueAt(body, condition.at + step(condition.name)) === condition.value,
  );
}

/** A value with all of its optional members or none, and with small numbers, so that accepted calls move hardly any money. */
function resize(given: Node, value: unknown, size: BodyChange["base"]): unknown {
  const schema = branchOf(given, value);
  if (typeof value === "number") return sampleOf(schema);
  if (Array.isArray(value)) return size === "fullest" ? value : value.slice(0, Number(schema.minItems ?? 0));
  if (!isNode(value)) return value;
  const names = new Set((schema.required ?? []) as string[]);
  for (const [name, { deprecated }] of members(schema.properties)) {
    const isNeeded = names.size < Number(schema.minProperties ?? 0) && value[name] !== undefined;
    if (isNeeded || (size === "fullest" && deprecated !== true)) names.add(name);
  }
  const kept = members(schema.properties).filter(([name]) => names.has(name));
  return Object.fromEntries(
    kept.map(([name, property]) => [
      name,
      value[name] === undefined ? sampleOf(property) : resize(property, value[name], size),
    ]),
  );
}

/** The branch of a union whose tag the value has. */
function branchOf(schema: Node, value: unknown): Node {
  const { propertyName } = (schema.discriminator ?? {}) as { propertyName?: string };
  if (propertyName === undefined || !isNode(value)) return schema;
  const tagOf = ({ properties }: Node) => (properties as Record<string, Node>)[propertyName]?.const;
  return (schema.oneOf as Node[]).find((branch) => tagOf(branch) === value[propertyName]) ?? schema;
}

/** The simplest value that a schema allows. */
function sampleOf(schema: Node): unknown {
  const [first] = [schema.const ?? schema.enum ?? schema.oneOf].flat();
  if (schema.oneOf) return sampleOf(first as Node);
  if (first !== undefined) return first;
  const [lowest] = ["minimum", "exclusiveMinimum"].filter((keyword) => schema[keyword] !== undefined);
  const steps = stepsBeyond(lowest === "minimum" ? 0 : 1);
  switch ([schema.type].flat()[0]) {
    case "object":
      return resize(schema, {}, "smallest");
    case "array":
      return [sampleOf(schema.items as Node)];
    case "string":
      return FORMAT_SAMPLES[String(schema.format)]?.obeying[0] ?? "x".repeat(Number(schema.minLength ?? 1));
    case "integer":
    case "number":
      return lowest ? Number(steps({ value: schema[lowest], schema, current: 0, others: [] })[0]) : 1;
    default:
      throw new Error(`no sample of ${JSON.stringify(schema)}`);
  }
}

/** Deprecated alternative names of other members: a body can't contain both. */
function isDeprecated({ constraints }: BodyModel, at: string): boolean {
  return constraints.some((constraint) => constraint.at === at && constraint.holder.deprecated === true);
}

/** The body with a value at the constraint's location; if it can't contain one, an example that does. */
function withLocation(
  { examples, violationsOf }: BodyModel,
  { at, keyword, holder, when }: Constraint,
  body: unknown,
): unknown {
  const pointer = at.replace(/\/\*.*$/, "");
  if (keyword === "required" || valueAt(body, holderOf(pointer)) === undefined) return body;
  if (valueAt(body, pointer) !== undefined && !(at.endsWith("/*") && isEmpty(valueAt(body, pointer))))
    return body;
  const has = (example: unknown) => valueAt(example, pointer) !== undefined;
  const shown = examples.find((example) => holds(example, when) && has(example));
  const sample = at === pointer ? sampleOf(holder) : [sampleOf(holder)];
  const value = shown === undefined ? sample : valueAt(shown, pointer);
  const more = edit(body, { pointer, json: JSON.stringify(value) });
  return violationsOf(more).length === 0 ? more : (examples.find(has) ?? body);
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

/** Values that the document allows at a location, but under other conditions or in other examples. */
function othersAt({ constraints, examples }: BodyModel, { at }: Constraint): unknown[] {
  const shown = examples.flatMap((example) =>
    instancesOf(example, at).map((pointer) => valueAt(example, pointer)),
  );
  const listed = constraints
    .filter((other) => other.keyword === "enum" && (other.at === at || other.at === `${at}/*`))
    .flatMap(({ value }) => value as unknown[]);
  return [...shown.flat().filter((value) => value !== undefined), ...listed];
}

/** The locations of a body that match a pointer with `*`: the first and the last item of a list. */
function instancesOf(body: unknown, at: string): string[] {
  return stepsOf(at).reduce<string[]>(
    (pointers, name) =>
      pointers.flatMap((pointer) => {
        if (name !== "*") return [pointer + step(name)];
        const list = valueAt(body, pointer);
        const count = Array.isArray(list) ? list.length : 0;
        return [...new Set([0, count - 1])]
          .filter((index) => index >= 0 && index < count)
          .map((index) => pointer + step(index));
      }),
    [""],
  );
}
