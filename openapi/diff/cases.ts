import {
  all,
  any,
  type Count,
  counted,
  type Formula,
  fulfils,
  has,
  item,
  matches,
  member,
  type Names,
  not,
  type Term,
  type Type,
  term,
  translate,
} from "./formula.ts";

/** What is known of a value of a type: terms that hold and that don't, choices that are open, and parts that exist somewhere. */
export type Case = {
  readonly type: Type;
  readonly yes: Set<Term>;
  readonly no: Set<Term>;
  open: (readonly Formula[])[];
  readonly later: Term[];
};

/** The same schema as the goal of a proof, and not. */
const twinsOf = ({ of }: Term) => [term("schema", of), term("goal", of)];
const isSchema = ({ is }: Term) => is === "schema" || is === "goal";
const includes = (terms: Set<Term>, one: Term) =>
  isSchema(one) ? twinsOf(one).some((twin) => terms.has(twin)) : terms.has(one);

export function isKnown({ yes, no }: Case, formula: Formula): boolean {
  if (typeof formula === "boolean") return formula;
  return formula.is === "not" ? includes(no, formula.parts[0] as Term) : includes(yes, formula);
}

/** Adds what a formula says to a case; false when it contradicts what is known. */
export function assume(own: Case, formula: Formula): boolean {
  if (typeof formula === "boolean") return formula;
  const { is, of, parts } = formula;
  if (is === "promise") return assume(own, term("member", of, ...parts));
  if (is === "not") return deny(own, parts[0] as Term);
  if (is === "all") return parts.every((part) => assume(own, part));
  if (is === "any") return own.open.push(parts) > 0;
  if (includes(own.no, formula)) return false;
  if (includes(own.yes, formula)) return true;
  own.yes.add(formula);
  return !isSchema(formula) || assume(own, translate(formula, own.type, true));
}

function deny(own: Case, formula: Term): boolean {
  const { is, parts } = formula;
  if (is === "all") return own.open.push(parts.map(not)) > 0;
  if (is === "any") return parts.every((part) => assume(own, not(part)));
  if (includes(own.yes, formula)) return false;
  if (own.no.has(formula)) return true;
  own.no.add(formula);
  if (isSchema(formula)) return assume(own, not(translate(formula, own.type, false)));
  if (["members", "items", "names"].includes(is)) return own.later.push(formula) > 0;
  return assume(own, DENIED[is]?.(formula as Denied) ?? true);
}

const bound =
  (keyword: string, by = 0) =>
  ({ of }: { readonly of: number }) =>
    term(keyword, of + by);
type Denied = Term & { readonly of: never };
/** What holds when a term doesn't. */
const DENIED: Readonly<Record<string, (denied: Denied) => Formula>> = {
  minimum: bound("exclusiveMaximum"),
  maximum: bound("exclusiveMinimum"),
  exclusiveMinimum: bound("maximum"),
  exclusiveMaximum: bound("minimum"),
  minLength: bound("maxLength", -1),
  maxLength: bound("minLength", 1),
  minItems: bound("maxItems", -1),
  maxItems: bound("minItems", 1),
  minProperties: bound("maxProperties", -1),
  maxProperties: bound("minProperties", 1),
  uniqueItems: () => term("minItems", 2),
  has: ({ of }) => member(of, false),
  member: ({ of, parts: [part = true] }) => all([has(of), member(of, not(part)), part !== true]),
  promise: ({ of, parts: [part = true] }) => (part === true ? false : term("broken", of, part)),
  item: ({ of, parts: [part = true] }: { of: number; parts: readonly Formula[] }) =>
    all([term("minItems", of + 1), item(of, not(part))]),
  count: ({ of: { min, max }, parts: [part = true] }: { of: Count; parts: readonly Formula[] }) =>
    any([min > 0 && counted(part, 0, min - 1), max !== undefined && counted(part, max + 1)]),
};

/** Where a part may be that exists somewhere: all names that nothing mentions are alike, and so are all further items. */
export function placesOf(own: Case, { is, of, parts: [part = true] }: Term): Formula[] {
  if (is === "items") {
    const last = Math.max(of as number, furtherItem(own));
    const places = Array.from({ length: last + 1 - (of as number) }, (_, index) => index + (of as number));
    return places.map((at) => all([term("minItems", at + 1), item(at, not(part))]));
  }
  const { names, patterns } = mentioned(own);
  const other = (only?: string, but?: string[]) => otherName(own, only, but);
  if (is === "names")
    return [...names, ...["", ...patterns].map((one) => (one === "" ? other() : other(one, [])))].map(
      (name) => all([has(name), term("named", name, not(part))]),
    );
  const kind = of as Names;
  const others =
    kind.only === undefined
      ? [
          other(),
          ...patterns
            .filter((one) => !kind.patterns?.includes(one))
            .map((one) => other(one, kind.patterns ?? [])),
        ]
      : [other(kind.only, [])];
  return [...names.filter((name) => isAmong(kind, name) !== false), ...others].map((name) =>
    all([has(name), member(name, not(part))]),
  );
}

/** A name that nothing mentions: one that matches no pattern, or one that matches `only`, and none of `but`. */
export const otherName = (own: Case, only?: string, but?: string[]) =>
  `\0${JSON.stringify({ only, but, count: mentioned(own).names.length })}`;

/** Whether a name is one of these; undefined when that isn't known. */
export function isAmong({ but, patterns = [], only }: Names, name: string): boolean | undefined {
  if (but.includes(name)) return false;
  if (only !== undefined) return matches(only, name);
  const found = patterns.map((pattern) => matches(pattern, name));
  return found.includes(true) ? false : found.includes(undefined) ? undefined : true;
}

export const valuesOf = <Value>({ yes }: Case, ...kinds: string[]): Value[] =>
  [...yes].flatMap(({ is, of }) => (kinds.includes(is) ? [of as Value] : []));
export const least = (own: Case, keyword: string) => Math.max(0, ...valuesOf<number>(own, keyword));
export const most = (own: Case, keyword: string) =>
  Math.min(Number.POSITIVE_INFINITY, ...valuesOf<number>(own, keyword));

export function mentioned(own: Case): { names: string[]; patterns: string[] } {
  const kinds = [...valuesOf<Names>(own, "members"), ...own.later.map(({ of }) => of as Names)].filter(
    (one) => one !== undefined && typeof one === "object",
  );
  const names = [
    ...valuesOf<string>(own, "has", "member", "broken", "named"),
    ...kinds.flatMap(({ but }) => but),
  ];
  const patterns = kinds.flatMap(({ patterns = [], only }) => (only === undefined ? patterns : [only]));
  return { names: [...new Set(names)], patterns: [...new Set(patterns)] };
}
export const furtherItem = ({ yes }: Case) =>
  Math.max(
    0,
    ...[...yes].map(({ is, of }) => (is === "item" ? Number(of) + 1 : is === "items" ? Number(of) : 0)),
  );

export const presentNames = (own: Case) => [...new Set(valuesOf<string>(own, "has", "broken"))];
/** What is said of a name, of a member, and of an item. */
export function partsOfName({ yes }: Case, name: string): Formula {
  const pattern = name.startsWith("\0") ? JSON.parse(name.slice(1)).only : undefined;
  const said = [...yes].flatMap(({ is, of, parts: [part = true] }) =>
    is === "names" || (is === "named" && of === name) ? [part] : [],
  );
  return all([fulfils({ type: "string", ...(pattern && { pattern }) }), ...said]);
}
export const partsOfMember = ({ yes }: Case, name: string) =>
  all(
    [...yes].flatMap(({ is, of, parts: [part = true] }) => {
      if (is === "broken" && of === name) return [not(part)];
      const isSaid = is === "members" ? isAmong(of as Names, name) === true : is === "member" && of === name;
      return isSaid ? [part] : [];
    }),
  );
export const partsOfItem = ({ yes }: Case, index: number) =>
  all(
    [...yes].flatMap(({ is, of, parts: [part = true] }) =>
      (is === "item" && of === index) || (is === "items" && Number(of) <= index) ? [part] : [],
    ),
  );
export const countsOf = ({ yes }: Case) =>
  [...yes].flatMap(({ is, of, parts: [part = true] }) =>
    is === "count"
      ? [{ part, ...(of as { min: number }), max: (of as { max?: number }).max ?? Infinity }]
      : [],
  );
export const leastItems = (own: Case) =>
  Math.max(least(own, "minItems"), ...countsOf(own).map(({ min }) => min));
