import fc, { type Arbitrary } from "fast-check";
import {
  JSON_ACCEPTS,
  JSON_TYPES,
  OTHER_ACCEPTS,
  OTHER_SCHEMES,
  OTHER_TYPES,
} from "../../conformance/constraints/calls.ts";

/** Headers, and the only status that they can get, whatever the body is; undefined when the body decides. */
export type HeaderChoice = {
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `unknown` when the effect of the headers is not known here. */
  readonly response: number | "unknown" | undefined;
};

type Choice = { readonly values: readonly string[]; readonly response: number | "unknown" | undefined };

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
export function plainHeaders(token: string): readonly (readonly [string, string])[] {
  return [
    ["Authorization", `Bearer ${token}`],
    ["Accept", "application/json"],
    ["Content-Type", "application/json"],
  ];
}

/** Valid, invalid and unusual headers. The order of checks decides among several that are bad. */
export function toHeaders(token: string): Arbitrary<HeaderChoice> {
  return fc
    .record({
      name: NAMES,
      authorization: authorizations(token),
      accept: ACCEPTS,
      contentType: CONTENT_TYPES,
      contentEncoding: CONTENT_ENCODINGS,
      more: fc.array(MORE, { maxLength: 3 }),
    })
    .map(({ name, authorization, accept, contentType, contentEncoding, more }) => ({
      headers: [
        ...authorization.values.map((value) => [name, value] as const),
        ...accept.values.map((value) => ["Accept", value] as const),
        ...contentType.values.map((value) => ["Content-Type", value] as const),
        ...contentEncoding.values.map((value) => ["Content-Encoding", value] as const),
        ...more,
      ],
      response: firstOf(authorization, accept, contentType, contentEncoding),
    }));
}

function firstOf(...choices: readonly Choice[]): HeaderChoice["response"] {
  return choices.find(({ response }) => response !== undefined)?.response;
}

function authorizations(token: string): Arbitrary<Choice> {
  return choose({
    good: [[`Bearer ${token}`]],
    bad: [
      401,
      ...[[], [""], ["Bearer "], ["Bearer nobody"], [`Basic ${token}`], [token], [`Bearer ${token}x`]],
      ...OTHER_SCHEMES.map((scheme) => [scheme]),
    ],
    odd: [
      [`bearer ${token}`],
      [`Bearer  ${token}`],
      [`Bearer ${token}`, "Bearer nobody"],
      [`Bearer ${token}, Basic x`],
    ],
  });
}

const ACCEPTS = choose({
  good: [[], ["text/html", "*/*"], ...JSON_ACCEPTS.map((accept) => [accept])],
  bad: [406, ...OTHER_ACCEPTS.map((accept) => [accept])],
  odd: [[""], ["application/problem+json"], [",,"], ["*"], ["application/json;q=2"], ["a".repeat(4000)]],
});

const CONTENT_TYPES = choose({
  good: JSON_TYPES.map((type) => [type]),
  bad: [415, [], ...OTHER_TYPES.map((type) => [type])],
  odd: [[""], ["application/json;"], ["application/json, text/plain"], ["json"]],
});

const CONTENT_ENCODINGS = choose({
  good: [[]],
  bad: [415, ["gzip"], ["br"], ["zstd, gzip"]],
  odd: [["identity"], [""]],
});

/** Mostly valid ones, because only the first of several invalid headers decides the response. */
function choose({
  good,
  bad: [response, ...bad],
  odd,
}: {
  good: readonly (readonly string[])[];
  bad: readonly [number, ...(readonly string[])[]];
  odd: readonly (readonly string[])[];
}): Arbitrary<Choice> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...good).map((values) => ({ values, response: undefined })) },
    { weight: 1, arbitrary: fc.constantFrom(...bad).map((values) => ({ values, response })) },
    {
      weight: 1,
      arbitrary: fc
        .oneof(
          fc.constantFrom(...odd),
          ANY_VALUE.map((value) => [value]),
        )
        .map((values) => ({ values, response: "unknown" as const })),
    },
  );
}

/** Headers that don't affect an operation. */
const MORE: Arbitrary<readonly [string, string]> = fc.oneof(
  fc.constantFrom<(readonly [string, string])[]>(
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
