import { acceptedValues } from "./accepted-values.ts";
import { brokenValues, type Value } from "./broken-values.ts";
import type { Constraint } from "./constraint.ts";
import { fillPath, type Subject } from "./subject.ts";

/** A value for a parameter, and the path that contains it. */
export type ParameterChange = { readonly name: string; readonly path: string };

/** Paths that violate one constraint of a path or query parameter. Throws when there is none. */
export function breakingPaths(subject: Subject, constraint: Constraint): ParameterChange[] {
  if (cannotBeBroken(constraint)) return [];
  const changes = pathsWith(subject, constraint, brokenValues, (keywords) =>
    keywords.has(constraint.keyword),
  );
  if (changes.length === 0) throw new Error(`no request breaks only: ${constraint.id}`);
  return changes;
}

/** Paths at the limits of a constraint of a path or query parameter. */
export function acceptedPaths(subject: Subject, constraint: Constraint): ParameterChange[] {
  return pathsWith(subject, constraint, acceptedValues, (keywords) => keywords.size === 0);
}

/** Every parameter is a string; and without a path parameter, or with an empty one, the call goes to another path. */
function cannotBeBroken({ part, keyword, value }: Constraint): boolean {
  if (keyword === "type" && value === "string") return true;
  return part.in === "path" && (keyword === "required" || keyword === "minLength");
}

function pathsWith(
  subject: Subject,
  { part, ...constraint }: Constraint,
  valuesOf: (spot: { constraint: Constraint; current: unknown; others: [] }) => Value[],
  isWanted: (keywords: ReadonlySet<string>) => boolean,
): ParameterChange[] {
  const name = "name" in part ? part.name : "";
  const parameter = subject.parameters.find((one) => one.name === name && one.in === part.in);
  const schema = constraint.pointer.replace(/\/schema\/.*$/, "/schema");
  const values = valuesOf({ constraint: { ...constraint, part }, current: parameter?.example, others: [] });
  const texts = values.map(({ json }) => toText(json)).filter((text) => text.isWellFormed());
  return [...new Set(texts)]
    .filter((text) => isWanted(keywordsAt(subject, schema, text)))
    .filter((text) => part.in === "query" || text !== "")
    .map((text) => ({
      name: `${name} is ${toLabel(text)}`,
      path: fillPath(subject, { [name]: text }),
    }));
}

/** The violations of a parameter's schema in a value, which is parsed if it is a number. */
function keywordsAt({ findViolations }: Subject, schema: string, text: string): ReadonlySet<string> {
  const violations = (value: unknown) =>
    new Set(findViolations(schema, value).flatMap(({ keywords }) => [...keywords]));
  const asText = violations(text);
  if (!asText.has("type") || !/^-?\d+(\.\d+)?$/.test(text)) return asText;
  return violations(Number(text));
}

/** A string is sent unchanged, anything else as JSON. */
function toText(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}

function toLabel(text: string): string {
  const json = JSON.stringify(text);
  return json.length > 60 ? `${json.slice(0, 60)}…` : json;
}
