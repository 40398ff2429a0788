/** The inputs of each program: the address and access token of a running sandbox, and an unused `requestKey`. */
export type ProgramInput = { readonly baseUrl: string; readonly token: string; readonly requestKey: string };

/** Ends a program whose client returned something other than the requested response. */
export function missing(what: string): never {
  throw new Error(`the client gave no ${what}`);
}
