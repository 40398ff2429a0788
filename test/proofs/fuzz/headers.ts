import fc, { type Arbitrary } from "fast-check";
import {
  JSON_ACCEPTS,
  JSON_TYPES,
  OTHER_ACCEPTS,
  OTHER_SCHEMES,
  OTHER_TYPES,
} from "../../conformance/constraints/calls.ts";

type Header = readonly [name: string, value: string];

/** With good headers the body decides, and bad ones are refused. Odd ones, and arbitrary ones, may be either. */
type Kind = "good" | "bad" | "odd";

/** Headers, and what they are together. Which status a bad one gets is in the tables of calls. */
export type HeaderChoice = { readonly headers: readonly Header[]; readonly kind: Kind };

type Choice = { readonly values: readonly string[]; readonly kind: Kind };

const NAMES = fc.constantFrom("Authorization", "authorization", "AUTHORIZATION");

/** Visible ASCII, spaces, and the bytes above ASCII, which HTTP allows without giving them a meaning. */
const ANY_VALUE = fc
  .string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .map((code) => (code === 0x7f ? "~" : String.fromCharCode(code))),
  })
  .map((value) => value.trim());

/** The headers that the contract requires, in the documented form. */
export function plainHeaders(token: string): readonly Header[] {
  return [
    ["Authorization", `Bearer ${token}`],
    ["Accept", "application/json"],
    ["Content-Type", "application/json"],
  ];
}

/** Valid, invalid and unusual headers. */
export function toHeaders(token: string): Arbitrary<HeaderChoice> {
  return fc
    .tuple(NAMES, authorizations(token), ACCEPTS, CONTENT_TYPES, CONTENT_ENCODINGS, MORE)
    .map(([name, authorization, accept, contentType, contentEncoding, more]) => ({
      headers: [
        ...authorization.values.map((value) => [name, value] as const),
        ...accept.values.map((value) => ["Accept", value] as const),
        ...contentType.values.map((value) => ["Content-Type", value] as const),
        ...contentEncoding.values.map((value) => ["Content-Encoding", value] as const),
        ...more,
      ],
      kind: together([authorization, accept, contentType, contentEncoding]),
    }));
}

/** One bad header is enough. */
function together(choices: readonly Choice[]): Kind {
  const kinds = choices.map(({ kind }) => kind);
  return (["bad", "odd"] as const).find((kind) => kinds.includes(kind)) ?? "good";
}

function authorizations(token: string): Arbitrary<Choice> {
  return choose({
    good: [[`Bearer ${token}`]],
    bad: [
      ...[[], [""], ["Bearer "], ["Bearer nobody"], [`Basic ${token}`], [token], [`Bearer ${token}x`]],
      ...OTHER_SCHEMES.map((scheme) => [scheme]),
    ],
    odd: [
      ...[[`bearer ${token}`], [`Bearer  ${token}`], [`Bearer ${token}`, "Bearer nobody"]],
      [`Bearer ${token}, Basic x`],
    ],
  });
}

const ACCEPTS = choose({
  good: [[], ["text/html", "*/*"], ...JSON_ACCEPTS.map((accept) => [accept])],
  bad: OTHER_ACCEPTS.map((accept) => [accept]),
  odd: [[""], ["application/problem+json"], [",,"], ["*"], ["application/json;q=2"], ["a".repeat(4000)]],
});

const CONTENT_TYPES = choose({
  good: JSON_TYPES.map((type) => [type]),
  bad: [[], ...OTHER_TYPES.map((type) => [type])],
  odd: [[""], ["application/json;"], ["application/json, text/plain"], ["json"]],
});

const CONTENT_ENCODINGS = choose({
  good: [[]],
  bad: [["gzip"], ["br"], ["zstd, gzip"]],
  odd: [["identity"], [""]],
});

/** Mostly good ones, because only the first of several bad headers decides the response. */
function choose({ good, bad, odd }: Record<Kind, readonly (readonly string[])[]>): Arbitrary<Choice> {
  const arbitrary = ANY_VALUE.map((value) => [value]);
  const of = (kind: Kind, choices: Arbitrary<readonly string[]>) =>
    choices.map((values): Choice => ({ values, kind }));
  return fc.oneof(
    { weight: 6, arbitrary: of("good", fc.constantFrom(...good)) },
    { weight: 1, arbitrary: of("bad", fc.constantFrom(...bad)) },
    { weight: 1, arbitrary: of("odd", fc.oneof(fc.constantFrom(...odd), arbitrary)) },
  );
}

/** Headers that don't affect an operation. */
const ANOTHER: Arbitrary<Header> = fc.oneof(
  fc.constantFrom<Header[]>(
    ["Cookie", "a=b; a=c"],
    ["Origin", "https://evil.example"],
    ["If-None-Match", "*"],
    ["If-Match", '"x"'],
    ["Range", "bytes=0-1"],
    ["Prefer", "code=500"],
    ["Idempotency-Key", "k"],
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-Forwarded-For", "127.0.0.1, ::1"],
    ["X-Forwarded-Proto", "javascript"],
    ["Forwarded", "for=_x"],
    ["Expect", "100-continue"],
    ["Connection", "close"],
    ["Connection", "X-Any"],
    ["TE", "trailers"],
    ["Accept-Encoding", "gzip, br"],
    ["Accept-Language", "xx"],
    ["Traceparent", "00-0-0-0"],
    ["X-Request-Id", "a\tb"],
  ),
  fc.tuple(fc.stringMatching(/^X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/), ANY_VALUE),
);
const MORE = fc.array(ANOTHER, { maxLength: 3 });
