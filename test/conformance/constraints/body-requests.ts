import { step, stepsOf, valueAt } from "../../../openapi/document/pointer.ts";
import { acceptedValues } from "./accepted-values.ts";
import { type Base, type BodyModel, basesOf, isDeprecated, sampleOf } from "./bases.ts";
import { brokenValues, type Spot, type Value } from "./broken-values.ts";
import type { Constraint } from "./constraint.ts";
import { type Edit, edit, write } from "./json.ts";
import { UNKNOWN_NAMES } from "./samples.ts";

/** A change of a valid body. */
export type BodyChange = {
  readonly base: Base;
  readonly edit: Edit;
  /** JSON Pointer to the violation, if the change causes one. */
  readonly violation: string;
  readonly name: string;
};

/** Keywords that only our own validator knows: to others, values that violate them look valid. */
const OWN_KEYWORDS = ["x-fraction-digits"];

/**
 * Changes that violate one constraint and no other place. Throws when there is none, so that no constraint stays untested.
 */
export function breakingChanges(model: BodyModel, constraint: Constraint): BodyChange[] {
  const changes = changesAt(model, constraint, breakingEdits).filter(({ base, edit: change, violation }) => {
    const violations = model.violationsOf(edit(base.body, change));
    if (OWN_KEYWORDS.includes(constraint.keyword)) return violations.length === 0;
    return (
      violations.length === 1 &&
      violations[0]?.pointer === violation &&
      violations[0].keywords.has(constraint.keyword)
    );
  });
  if (changes.length === 0) throw new Error(`no request breaks only: ${constraint.id}`);
  return preferPure(model, changes);
}

/** Changes to the limits of a constraint; the fullest body is only sent unchanged. */
export function acceptedChanges(model: BodyModel, constraint: Constraint): BodyChange[] {
  return changesAt(model, constraint, (spot, pointer) => puts(pointer, acceptedValues(spot)))
    .filter(({ base }) => base.name === "smallest" || constraint.keyword === "type")
    .filter(({ base, edit: change }) => model.violationsOf(edit(base.body, change)).length === 0);
}

/** The name of the body itself in names of requests. */
const WHOLE = "the body";

/** Sets `violation` when it is not at the changed place itself. */
type NamedEdit = Edit & { readonly name: string; readonly violation?: string };

function changesAt(
  model: BodyModel,
  constraint: Constraint,
  editsOf: (spot: Spot, pointer: string) => NamedEdit[],
): BodyChange[] {
  const others = othersAt(model, constraint);
  const all = basesOf(model, constraint.when).flatMap((shown) => {
    if (shown.name === "fullest" && isDeprecated(model, constraint.at)) return [];
    const base = { ...shown, body: withPlace(model, constraint, shown.body) };
    return instancesOf(base.body, constraint.at).flatMap((pointer) =>
      editsOf({ constraint, current: valueAt(base.body, pointer), others }, pointer).map(
        ({ name, violation, ...change }) => ({
          base,
          edit: change,
          violation: violation ?? change.pointer,
          name,
        }),
      ),
    );
  });
  return distinct(all);
}

/** The two bases of a body without optional members are the same, and samples may repeat. */
function distinct(changes: readonly BodyChange[]): BodyChange[] {
  const seen = new Set<string>();
  return changes.filter(({ base, edit: change }) => {
    const text = write(base.body, change);
    return !seen.has(text) && seen.add(text);
  });
}

/** If there are changes that violate only this constraint, those that also violate another at the same place are not needed. */
function preferPure(model: BodyModel, changes: BodyChange[]): BodyChange[] {
  const pure = changes.filter(({ base, edit: change }) =>
    model.violationsOf(edit(base.body, change)).every(({ keywords }) => keywords.size === 1),
  );
  return pure.length > 0 ? pure : changes;
}

function breakingEdits(spot: Spot, pointer: string): NamedEdit[] {
  const { constraint, current } = spot;
  const whole = pointer || WHOLE;
  switch (constraint.keyword) {
    case "required":
      return [{ name: `${pointer} is missing`, pointer }];
    case "additionalProperties":
      return unknownNames(current).flatMap((name) => {
        const violation = pointer + step(name);
        return [
          { name: `${whole} has ${JSON.stringify(name)}`, pointer: violation, json: '"x"' },
          {
            name: `${whole} has only ${JSON.stringify(name)}`,
            pointer,
            json: JSON.stringify({ [name]: "x" }),
            violation,
          },
        ];
      });
    case "minProperties":
      return [
        {
          name: `${whole} has too few members`,
          pointer,
          json: toObject(current, Number(constraint.value) - 1),
        },
      ];
    case "maxProperties":
      return [
        {
          name: `${whole} has too many members`,
          pointer,
          json: JSON.stringify(Object.assign({}, current, ...spot.others)),
        },
      ];
    case "oneOf": {
      const tag = pointer + step((constraint.holder.discriminator as { propertyName: string }).propertyName);
      const tags = valueAt(current, tag.slice(pointer.length));
      const values = brokenValues({ ...spot, constraint: { ...constraint, value: tags } });
      return [{ name: `${tag} is missing`, pointer: tag }, ...puts(tag, values)];
    }
    default:
      return puts(pointer, brokenValues(spot));
  }
}

function puts(pointer: string, values: readonly Value[]): NamedEdit[] {
  return values.map(({ name, json }) => ({ name: `${pointer || WHOLE} is ${name}`, pointer, json }));
}

/** Names similar to those that the object has, and names that no object has. */
function unknownNames(holder: unknown): string[] {
  const names = Object.keys(holder as object);
  return [...names.flatMap((name) => [name.toUpperCase(), `${name}s`, `${name} `]), ...UNKNOWN_NAMES];
}

function toObject(holder: unknown, length: number): string {
  return JSON.stringify(Object.fromEntries(Object.entries(holder as object).slice(0, length)));
}

/** Values that the document allows at a place under other conditions, or in other examples. */
function othersAt({ constraints, examples }: BodyModel, { at }: Constraint): unknown[] {
  const shown = examples.flatMap((example) =>
    instancesOf(example, at).map((pointer) => valueAt(example, pointer)),
  );
  const listed = constraints
    .filter((other) => other.keyword === "enum" && (other.at === at || other.at === `${at}/*`))
    .flatMap(({ value }) => value as unknown[]);
  return [...shown.flat().filter((value) => value !== undefined), ...listed];
}

/** The body including an optional place; if the body can't contain it, an example that does. */
function withPlace(model: BodyModel, { at, keyword, when }: Constraint, body: unknown): unknown {
  const place = at.replace(/\/\*.*$/, "");
  const holder = valueAt(body, place.slice(0, Math.max(0, place.lastIndexOf("/"))));
  if (keyword === "required" || holder === undefined || valueAt(body, place) !== undefined) return body;
  const more = edit(body, { pointer: place, json: JSON.stringify(sampleOf(model, place, when)) });
  if (model.violationsOf(more).length === 0) return more;
  return model.examples.find((example) => valueAt(example, place) !== undefined) ?? body;
}

/** The places of a body that match a pointer with `*`: the first and the last item of a list. */
function instancesOf(body: unknown, at: string): string[] {
  return stepsOf(at).reduce<string[]>(
    (pointers, name) =>
      pointers.flatMap((pointer) => {
        if (name !== "*") return [pointer + step(name)];
        const list = valueAt(body, pointer);
        if (!Array.isArray(list) || list.length === 0) return [];
        return [...new Set([0, list.length - 1])].map((index) => pointer + step(index));
      }),
    [""],
  );
}
