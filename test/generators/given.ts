/** What a program is given: a running sandbox, and a `requestKey` that nobody has used. */
export type Given = { readonly baseUrl: string; readonly token: string; readonly requestKey: string };

/** Ends a program whose client gave something else than the answer that was asked for. */
export function missing(what: string): never {
  throw new Error(`the client gave no ${what}`);
}
