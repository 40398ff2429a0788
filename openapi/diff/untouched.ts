import { isDeepStrictEqual } from "node:util";
import { memberOf, membersOf, step } from "./document.ts";

type Part = { readonly document: unknown; readonly value: unknown };
type Pair = readonly [base: Part, revision: Part];

/** The components that a part of a document refers to, as `schemas/Name`. */
const referencesOf = (value: unknown) =>
  Array.from(
    (JSON.stringify(value) ?? "").matchAll(/"\$ref":"#\/(?:components\/)?([^/"]+\/[^/"]+)/g),
    ([, name = ""]) => name,
  );

const known = new WeakMap<
  object,
  { readonly revision: unknown; readonly touched: Set<string> | undefined }
>();

/** The components that differ, and those that refer to them; undefined when what all operations share differs. */
function touchedIn(base: unknown, revision: unknown): Set<string> | undefined {
  const all = [base, revision].map((document) => {
    const kinds = membersOf(memberOf(document, "components"));
    return new Map(
      kinds.flatMap(([kind, parts]) => membersOf(parts).map(([name, part]) => [kind + step(name), part])),
    );
  }) as [Map<string, unknown>, Map<string, unknown>];
  const [before, after] = all;
  const shared = [base, revision].map((one) => [
    memberOf(one, "security"),
    memberOf(memberOf(one, "components"), "securitySchemes"),
  ]);
  if (!isDeepStrictEqual(shared[0], shared[1])) return undefined;
  const users = new Map<string, string[]>();
  for (const [name, part] of before)
    for (const used of new Set(referencesOf(part))) users.set(used, [...(users.get(used) ?? []), name]);
  const names = [...before.keys(), ...after.keys()];
  const touched = new Set(names.filter((name) => !isDeepStrictEqual(before.get(name), after.get(name))));
  // What is added while this runs is visited, too.
  for (const name of touched) for (const user of users.get(name) ?? []) touched.add(user);
  return touched;
}

/** Whether an operation is the same in both documents, with all that it refers to. */
export function isUntouched(...pairs: readonly Pair[]): boolean {
  const [base, revision] = (pairs[0] as Pair).map(({ document }) => document) as [object, object];
  const found = known.get(base);
  const { touched } = found?.revision === revision ? found : { touched: touchedIn(base, revision) };
  known.set(base, { revision, touched });
  if (touched === undefined) return false;
  return pairs.every(
    ([before, after], index) =>
      isDeepStrictEqual(
        ...((index === 0
          ? [before.value, after.value]
          : [memberOf(before.value, "parameters"), memberOf(after.value, "parameters")]) as [
          unknown,
          unknown,
        ]),
      ) &&
      referencesOf(index === 0 ? after.value : memberOf(after.value, "parameters")).every(
        (name) => !touched.has(name) && !/^(paths|x-files|webhooks)\//.test(name),
      ),
  );
}
