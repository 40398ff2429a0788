/** Sends a request case of the conformance kit, and compares the response with what it promises. */
import { request } from "undici";
import { findConstraints } from "../../openapi/document/constraints.ts";
import type { Node } from "../../openapi/document/document-node.ts";
import type { Contract, HttpResponse } from "../../openapi/document/read-contract.ts";
import {
  bodyOf,
  mismatchesOf,
  type OperationId,
  type RequestCase,
  type Tokens,
} from "../conformance/cases/request-case.ts";
import {
  acceptedRequests,
  breakingRequests,
  type ConstraintRequest,
} from "../conformance/constraints/requests.ts";
import { toHeaders } from "../conformance/transport.ts";
import { parseBody } from "../reporting/exchange.ts";

/** The headers of a valid request; each case says what it changes. */
const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json",
  Authorization: "Bearer {own}",
};

const DEADLINE_MS = 10_000;

/** Sends the request of a case, and adds nothing to it. */
export async function sendCase(
  baseUrl: string,
  requestCase: RequestCase,
  tokens: Partial<Tokens>,
): Promise<HttpResponse> {
  const response = await request(baseUrl + requestCase.path, {
    method: requestCase.method,
    headers: headersOf(requestCase, tokens),
    body: bodyOf(requestCase),
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  });
  return {
    status: response.statusCode,
    headers: toHeaders(response.headers),
    body: parseBody(await response.body.text()),
  };
}

function headersOf({ token, headers }: RequestCase, tokens: Partial<Tokens>): Record<string, string> {
  const own = tokens[token === "absent" ? "valid" : token] ?? "";
  const all: RequestCase["headers"] = {
    ...HEADERS,
    ...(token === "absent" && { Authorization: null }),
    ...headers,
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      value === null ? [] : [[name, value.replace("{own}", own)]],
    ),
  );
}

const TYPES = { json: "application/json", problem: "application/problem+json" };

/** The differences between a response and the expected one of our server; empty when it is as promised and as documented. */
export function findMismatches(
  contract: Contract,
  requestCase: RequestCase,
  response: HttpResponse,
): string[] {
  const { type, noOperation } = requestCase.expected;
  const mediaType = response.headers.get("content-type") ?? undefined;
  return [
    ...mismatchesOf(requestCase, response),
    ...(type && mediaType !== TYPES[type] ? [`the media type is ${mediaType}`] : []),
    ...(noOperation ? [] : contract.violationsOf(requestCase.operation, response)),
  ];
}

/** A case for each request that is derived from a constraint. */
export function deriveCases(document: Node): DerivedCase[] {
  const constraints = findConstraints(document);
  const options = { requestKeyPrefix: "derived-" };
  return [
    ...breakingRequests(document, constraints, options).map((request) =>
      toCase(request, {
        status: request.expected.status,
        code: request.expected.code,
        ...(request.expected.pointer !== undefined && { pointers: [request.expected.pointer] }),
      }),
    ),
    ...acceptedRequests(document, constraints, options).map((request) =>
      toCase(request, { status: request.outcomes }),
    ),
  ];
}

/** The case of a derived request, and the location of its constraint in the document. */
export type DerivedCase = RequestCase & { readonly pointer: string };

function toCase(
  { constraint, name, call }: ConstraintRequest,
  expected: RequestCase["expected"],
): DerivedCase {
  const { operationId, method, path, token, headers, body = "" } = call;
  return {
    ...{ name: `${constraint.id}: ${name}`, pointer: constraint.pointer },
    operation: operationId as OperationId, // the document has no others
    ...{ method, path, token, text: body, expected, edits: {} },
    headers: { Accept: null, "Content-Type": null, ...headers },
  };
}
