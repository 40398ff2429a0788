import type { Store } from "./tables.ts";

type StorageFunction = (store: Store, ...rest: never[]) => unknown;

/** Functions of this folder as they are handed out: with the store they run on already given. */
export type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    store: Store,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Gives functions their store, so that whoever calls them needs to know nothing of it. */
export function bindStore<const Functions extends Record<string, StorageFunction>>(
  store: Store,
  functions: Functions,
): Bound<Functions> {
  const entries = Object.entries(functions).map(([name, run]) => [name, run.bind(null, store)]);
  return Object.fromEntries(entries); // the mapped type above says what each became
}
