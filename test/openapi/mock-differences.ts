/** Where the Prism mock differs from the contract, and why that can't be helped. */
import type { Contract, HttpResponse } from "../../openapi/document/read-contract.ts";
import type { RequestCase } from "../conformance/cases/request-case.ts";
import { findMismatches } from "./send-case.ts";

/** Requests that a server refuses, and to which the mock responds otherwise. */
type KnownDifference = {
  readonly reason: string;
  readonly requests: RegExp;
  /** What the mock responds with; if absent, 200 or 201. */
  readonly status?: number;
  /** Its response does not match the document's schema. */
  readonly bodyDiffers?: true;
};

/** All known differences between the mock and a server, by the names of the requests that are derived from the document. */
const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    reason: "A bearer token is opaque: the document can't say which ones exist, and with which scopes.",
    requests: /: (a token without the scope|an unknown token)$/,
  },
  {
    reason: "`x-fraction-digits` is our own keyword, and the mock doesn't see how a number was written.",
    requests: / x-fraction-digits: /,
  },
  {
    reason: "It reads every media type that ends with +json, and ignores encodings.",
    requests: /: a body (as .*(iso-8859-1|problem\+json)|with (gzip|identity))$/,
  },
  {
    reason: "It does not read a body without a media type, and says that the body is missing.",
    requests: /: a body without a media type$/,
    status: 400,
  },
  {
    reason: "Its parser responds to what it can't read, before it looks at the document.",
    requests: /: (a body as .*utf-16|a body that ends early|a blank body)$/,
    status: 400,
    bodyDiffers: true,
  },
  {
    reason: "It finds no acceptable response, the document's 406 included.",
    requests: / content: Accept /,
    status: 406,
    bodyDiffers: true,
  },
];

const SUCCESSES = [200, 201];

/** The differences between the mock's response and a server's expected one, but for the known ones. */
export function findMockMismatches(
  contract: Contract,
  requestCase: RequestCase,
  response: HttpResponse,
): string[] {
  const refused = Number(requestCase.expected.status) >= 400;
  const known = KNOWN_DIFFERENCES.find(({ requests }) => refused && requests.test(requestCase.name));
  const { status, bodyDiffers = false } = known
    ? { status: SUCCESSES, ...known }
    : { status: requestCase.expected.status };
  return findMismatches(
    contract,
    { ...requestCase, expected: { status, noOperation: bodyDiffers } },
    response,
  );
}

/** The known differences that none of these requests needs. */
export function unusedDifferences(cases: readonly RequestCase[]): string[] {
  const unused = KNOWN_DIFFERENCES.filter(({ requests }) => !cases.some(({ name }) => requests.test(name)));
  return unused.map(({ reason }) => reason);
}
