import fc, { type Arbitrary } from "fast-check";
import {
  JSON_ACCEPTS,
  JSON_TYPES,
  OTHER_ACCEPTS,
  OTHER_SCHEMES,
  OTHER_TYPES,
} from "../../conformance/constraints/calls.ts";

type Header = readonly [name: string, value: string];

/** Headers, and whether they are all good, so that the body decides. What bad ones get is in the tables of calls. */
export type HeaderChoice = { readonly headers: readonly Header[]; readonly good: boolean };

type Choice = { readonly values: readonly string[]; readonly good: boolean };

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
      good: [authorization, accept, contentType, contentEncoding].every(({ good }) => good),
    }));
}

function authorizations(token: string): Arbitrary<Choice> {
  return choose(
    [[`Bearer ${token}`]],
    [
      ...[[], [""], ["Bearer "], ["Bearer nobody"], [`Basic ${token}`], [token], [`Bearer ${token}x`]],
      ...OTHER_SCHEMES.map((scheme) => [scheme]),
      ...[[`bearer ${token}`], [`Bearer  ${token}`], [`Bearer ${token}`, "Bearer nobody"]],
      [`Bearer ${token}, Basic x`],
    ],
  );
}

const ACCEPTS = choose(
  [[], ["text/html", "*/*"], ...JSON_ACCEPTS.map((accept) => [accept])],
  [
    ...OTHER_ACCEPTS.map((accept) => [accept]),
    ...[[""], ["application/problem+json"], [",,"], ["*"], ["application/json;q=2"], ["a".repeat(4000)]],
  ],
);

const CONTENT_TYPES = choose(
  JSON_TYPES.map((type) => [type]),
  [
    ...OTHER_TYPES.map((type) => [type]),
    ...[[], [""], ["application/json;"], ["application/json, text/plain"], ["json"]],
  ],
);

const CONTENT_ENCODINGS = choose([[]], [["gzip"], ["br"], ["zstd, gzip"], ["identity"], [""]]);

/** Mostly good ones, because only the first of several bad headers decides the response. */
function choose(
  good: readonly (readonly string[])[],
  others: readonly (readonly string[])[],
): Arbitrary<Choice> {
  const any = fc.oneof(
    fc.constantFrom(...others),
    ANY_VALUE.map((value) => [value]),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...good).map((values) => ({ values, good: true })) },
    { weight: 1, arbitrary: any.map((values) => ({ values, good: false })) },
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
