/** The different response of the mock, and the reason for it. */
export type Exception = {
  readonly reason: string;
  /** Absent: the mock treats the call as valid. */
  readonly status?: number;
  /** Its response does not match the document's schema, and has this media type. */
  readonly ownWords?: "json with charset" | "problem";
};

/** All known differences between mock and server, except the media type of problems. */
export const EXCEPTIONS = {
  "stores nothing": {
    reason: "It has no payments and remembers no calls, so none is unknown and no key is used up.",
  },
  "counts no subscriptions": { reason: "It remembers no calls." },
  "knows no scopes": { reason: "A bearer token is opaque: the document can't say which scopes one has." },
  "knows no tokens": { reason: "Any text will do as a token: the document can't say which were given out." },
  "wants Bearer as written": {
    reason: "It compares the scheme with case, other than RFC 9110 says.",
    status: 401,
  },
  "knows no two decimals": {
    reason:
      "`x-fraction-digits` is our own word, and it reads numbers without the text they were written as.",
  },
  "looks for no surrogates": {
    reason: "No pattern forbids lone surrogates, because none that does compiles in every language.",
  },
  "knows no raw text": { reason: "Size and duplicate keys stand in words only; it looks at parsed bodies." },
  "looks at no address": { reason: "To a schema every URI is as good as another." },
  "compares no members": { reason: "No schema says that two members are the same." },
  "reads all that is like JSON": {
    reason: "It takes a media type with the suffix +json for JSON, and does not look at encodings.",
  },
  "misses a body that has no media type": {
    reason: "It reads no such body, and says that it is missing.",
    status: 400,
  },
  "reads no other charset": {
    reason: "It fails to read it, and says so in words of its own.",
    status: 400,
    ownWords: "json with charset",
  },
  "own words for malformed JSON": {
    reason: "Its parser responds, before it looks at the document.",
    ownWords: "json with charset",
    status: 400,
  },
  "own words for what is not acceptable": {
    reason: "It finds no response that is acceptable, the document's 406 included.",
    ownWords: "problem",
    status: 406,
  },
} as const satisfies Readonly<Record<string, Exception>>;
export type ExceptionName = keyof typeof EXCEPTIONS;
