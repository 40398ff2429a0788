import type { components } from "../../../../openapi/generated/types";

/** The types that this project generates from the same contract, in the folder that a program is tried in. */
export type Schemas = components["schemas"];

type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? unknown : never;

/** Compiles only for a value of exactly this type: what the guide says of a tool's types. */
export function isType<Expected>() {
  return <Actual>(_value: Actual & Same<Actual, Expected>) => {};
}

/** The inputs of each program: the address and access token of a running sandbox, and an unused `requestKey`. */
export type ProgramInput = { readonly baseUrl: string; readonly token: string; readonly requestKey: string };

/** Ends a program whose client returned something other than the requested response. */
export function missing(what: string): never {
  throw new Error(`the client gave no ${what}`);
}
