import { pointersIn } from "../../../openapi/document/node.ts";
import { stepsOf, valueAt } from "../../../openapi/document/pointer.ts";
import type { Violation } from "./body-check.ts";
import type { Condition, Constraint } from "./constraint.ts";
import { edit } from "./json.ts";
import { smallestNumber } from "./numbers.ts";
import { FORMAT_SAMPLES } from "./samples.ts";

/** A valid body, from which requests differ in one place. */
export type Base = { readonly name: "smallest" | "fullest"; readonly body: unknown };

/** Information about the body of one operation. */
export type BodyModel = {
  /** The constraints of the body only. */
  readonly constraints: readonly Constraint[];
  /** The document's own examples, which are all valid. */
  readonly examples: readonly unknown[];
  violationsOf(body: unknown): Violation[];
};

/**
 * The smallest and the fullest valid body under some conditions. Throws when the document has no example that meets the
 * conditions.
 */
export function basesOf(model: BodyModel, when: readonly Condition[]): Base[] {
  const shown = model.examples.find((example) => holds(example, when));
  if (shown === undefined) throw new Error(`no example of a body in which ${JSON.stringify(when)}`);
  const smallest = shrink(model, when, shown);
  const fullest = fill(model, when, smallNumbers(model, when, shown));
  return [
    { name: "smallest", body: smallest },
    { name: "fullest", body: fullest },
  ];
}

/** A valid value for a place: that of an example, or else the simplest that the constraints of the place allow. */
export function sampleOf(model: BodyModel, at: string, when: readonly Condition[]): unknown {
  const { constraints, examples } = model;
  const shown = examples.filter((example) => holds(example, when)).map((example) => valueAt(example, at));
  const found = shown.find((value) => value !== undefined);
  if (found !== undefined) return found;

  const here = constraints.filter((constraint) => constraint.at === at && holdsFor(constraint, when));
  const said = (keyword: string) => here.find((constraint) => constraint.keyword === keyword)?.value;
  const choices = said("enum") as unknown[] | undefined;
  if (choices) return choices[0];
  const format = FORMAT_SAMPLES[String(said("format"))]?.kept[0];
  switch (said("type")) {
    case "array":
      return [sampleOf(model, `${at}/*`, when)];
    case "string":
      return format ?? "x".repeat(Number(said("minLength") ?? 1));
    case "integer":
    case "number":
      return smallestNumber(here) ?? 1;
    default:
      throw new Error(`no sample of ${at}`);
  }
}

/** Deprecated alternative names of other members: a body can't contain both. */
export function isDeprecated({ constraints }: BodyModel, at: string): boolean {
  return constraints.some((constraint) => constraint.at === at && constraint.holder.deprecated === true);
}

export function holds(body: unknown, when: readonly Condition[]): boolean {
  return when.every(
    (condition) =>
      condition.kind === "tag" && valueAt(body, `${condition.at}/${condition.name}`) === condition.value,
  );
}

/** Whether a constraint applies under the given conditions. */
export function holdsFor({ when }: Constraint, given: readonly Condition[]): boolean {
  return when.every((condition) =>
    given.some((other) => JSON.stringify(other) === JSON.stringify(condition)),
  );
}

/** Removes all optional members. */
function shrink(model: BodyModel, when: readonly Condition[], shown: unknown): unknown {
  let body = smallNumbers(model, when, shown);
  for (const pointer of pointersIn(body).reverse()) {
    const without = edit(body, { pointer });
    if (holds(without, when) && model.violationsOf(without).length === 0) body = without;
  }
  return body;
}

/** Adds all optional members. */
function fill(model: BodyModel, when: readonly Condition[], shown: unknown): unknown {
  let body = shown;
  for (const at of placesOf(model, when)) {
    const holder = valueAt(body, at.slice(0, at.lastIndexOf("/")));
    if (valueAt(body, at) !== undefined || holder === undefined || isDeprecated(model, at)) continue;
    const more = edit(body, { pointer: at, json: JSON.stringify(sampleOf(model, at, when)) });
    if (holds(more, when) && model.violationsOf(more).length === 0) body = more;
  }
  return body;
}

function placesOf({ constraints }: BodyModel, when: readonly Condition[]): string[] {
  const here = constraints.filter((constraint) => holdsFor(constraint, when)).map(({ at }) => at);
  return [...new Set(here)].filter((at) => at !== "" && !stepsOf(at).includes("*"));
}

/** The smallest valid numbers, so that accepted calls move hardly any money. */
function smallNumbers(
  { constraints, violationsOf }: BodyModel,
  when: readonly Condition[],
  shown: unknown,
): unknown {
  let body = shown;
  for (const pointer of pointersIn(shown)) {
    if (typeof valueAt(shown, pointer) !== "number") continue;
    const here = constraints.filter((constraint) => constraint.at === pointer && holdsFor(constraint, when));
    const smallest = smallestNumber(here);
    if (smallest === undefined) continue; // a list item
    const less = edit(body, { pointer, json: String(smallest) });
    if (violationsOf(less).length === 0) body = less;
  }
  return body;
}
