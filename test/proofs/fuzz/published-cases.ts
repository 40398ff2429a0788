import fc, { type Arbitrary } from "fast-check";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { breakingRequests } from "../../conformance/constraints/requests.ts";
import { type Case, type Edit, FRESH_KEY } from "./case.ts";
import { plainHeaders, toHeaders } from "./headers.ts";
import { styles } from "./json-text.ts";
import { type Schema, toValid } from "./values.ts";

/** An operation with a body, and the merchant that calls it. */
export type Target = {
  readonly operation: string;
  readonly path: string;
  readonly token: string;
  readonly schema: Schema;
  /** Whether the document allows a body, but for the digits of its amounts. */
  readonly allows: (body: unknown) => boolean;
};

/**
 * Payments of the caller of a refund; for each of them, any amount that the schema allows creates a refund, even if a failed
 * one.
 */
export type Targets = {
  readonly refunds: Target;
  readonly subscriptions: Target;
  readonly paymentIds: readonly string[];
};

/** Calls of the two published operations; each kind is a level. */
export function toPublishedCases(document: Node, given: Targets): Record<string, Arbitrary<Case>> {
  const { refunds, subscriptions } = given;
  const bodies = { refunds: toRefunds(given), subscriptions: toValid(subscriptions.schema) };
  const both = (make: (target: Target, body: Arbitrary<unknown>) => Arbitrary<Case>) =>
    fc.oneof(
      { weight: 3, arbitrary: make(refunds, bodies.refunds) },
      { weight: 1, arbitrary: make(subscriptions, bodies.subscriptions) },
    );
  return {
    valid: both(toValidCases),
    invalid: fc.oneof(
      toInvalidCases(document, given),
      both(toUnknownMemberCases),
      toAmountCases(refunds, bodies.refunds),
    ),
    json: both(toJsonCases),
    headers: both(toHeaderCases),
    bytes: both(toEditedBodies),
    message: both(toEditedMessages),
    address: both(toAddressCases),
  };
}

/** Valid refunds of an existing payment, with an unused key. */
function toRefunds({ refunds, paymentIds }: Targets): Arbitrary<Record<string, unknown>> {
  return fc
    .tuple(toValid(refunds.schema) as Arbitrary<Record<string, unknown>>, fc.constantFrom(...paymentIds))
    .map(([{ clientRefefenceId, ...body }, paymentId]) => ({
      ...body,
      paymentId,
      requestKey: freshKey(String(body.requestKey)),
      // Both spellings have the same value; otherwise the call would be refused.
      ...(clientRefefenceId !== undefined && {
        clientRefefenceId: body.clientReferenceId ?? clientRefefenceId,
      }),
    }));
}

function freshKey(key: string): string {
  return Array.from(FRESH_KEY + key)
    .slice(0, 255)
    .join("");
}

function toCase(level: string, { operation, path, token }: Target) {
  return { level, operation, method: "POST", target: path, headers: plainHeaders(token) };
}

function success({ operation }: Target, body: unknown): Pick<Case, "statuses" | "refund"> {
  if (operation !== "issueRefund") return { statuses: [200] };
  return { statuses: [201], refund: body as Record<string, unknown> };
}

function toValidCases(target: Target, bodies: Arbitrary<unknown>): Arbitrary<Case> {
  return fc.tuple(bodies, styles).map(([value, style]) => ({
    ...toCase("valid", target),
    body: { value, style },
    ...success(target, value),
  }));
}

/** The bodies of the conformance kit that break one constraint each, in every way that the table of keywords knows. */
function toInvalidCases(document: Node, { refunds, subscriptions }: Targets): Arbitrary<Case> {
  const requests = breakingRequests(document, findConstraints(document), { requestKeyPrefix: "fuzz-" });
  const ofBodies = requests.filter(({ constraint }) => constraint.part.in === "body");
  return fc.constantFrom(...ofBodies).map(({ call: { operationId, body = "" } }) => ({
    ...toCase("invalid", operationId === refunds.operation ? refunds : subscriptions),
    body: { text: body },
    statuses: [400],
  }));
}

/** A valid body with one member more, which may happen to be one that the document knows. */
function toUnknownMemberCases(target: Target, bodies: Arbitrary<unknown>): Arbitrary<Case> {
  const names = fc.oneof(fc.string(), fc.constant("__proto__"));
  return fc.tuple(bodies, names, fc.jsonValue({ maxDepth: 2 }), styles).map(([valid, name, more, style]) => {
    // Not by an assignment, which would set the prototype for `__proto__`.
    const value = Object.fromEntries([...Object.entries(valid as object), [name, more]]);
    return {
      ...toCase("invalid", target),
      body: { value, style },
      ...(!target.allows(value) && { statuses: [400] }),
    };
  });
}

/** A valid refund but for its amount: any number, or one within the limits, which hardly ever has two digits only. */
function toAmountCases(refunds: Target, bodies: Arbitrary<Record<string, unknown>>): Arbitrary<Case> {
  const amounts = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, min: 0.01, max: 9_999_999_999.99 }),
  );
  return fc.tuple(bodies, amounts, styles).map(([valid, amount, style]) => {
    const value = { ...valid, amount: { currency: "USD", value: amount } };
    const isExact = Number(amount.toFixed(2)) === amount;
    return {
      ...toCase("invalid", refunds),
      body: { value, style },
      ...((!isExact || !refunds.allows(value)) && { statuses: [400] }),
    };
  });
}

/** Arbitrary JSON, alone or in a field: none of it has an amount or an address by chance. */
function toJsonCases(target: Target): Arbitrary<Case> {
  const names = Object.keys(target.schema.properties ?? {});
  const fields = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue(), {
    noNullPrototype: true,
  });
  return fc.tuple(fc.oneof(fields, fc.jsonValue()), styles).map(([value, style]) => ({
    ...toCase("json", target),
    body: { value, style },
    statuses: [400],
  }));
}

/** What a bad header gets; 400 if one before it is odd in such a way that the call is malformed. */
const REFUSED = [400, 401, 406, 415];

function toHeaderCases(target: Target, bodies: Arbitrary<unknown>): Arbitrary<Case> {
  return fc.tuple(bodies, toHeaders(target.token)).map(([value, { headers, kind }]) => ({
    ...toCase("headers", target),
    headers,
    body: { value },
    ...(kind === "good" && success(target, value)),
    ...(kind === "bad" && { statuses: REFUSED }),
  }));
}

const EDITS: Arbitrary<Edit[]> = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    remove: fc.oneof(fc.nat(2), fc.nat(200)),
    insert: fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc
        .constantFrom("\r\n", "\0", '"', "{", "}", "[", ",", ":", "\\", "e9", "\\ud800", "\r\n\r\n")
        .map((text) => Buffer.from(text)),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

function toEditedBodies(target: Target, bodies: Arbitrary<unknown>): Arbitrary<Case> {
  return fc.tuple(bodies, styles, EDITS).map(([value, style, edits]) => ({
    ...toCase("bytes", target),
    body: { value, style, edits },
  }));
}

function toEditedMessages(target: Target, bodies: Arbitrary<unknown>): Arbitrary<Case> {
  return fc.tuple(bodies, EDITS).map(([value, edits]) => ({
    ...toCase("message", target),
    operation: undefined,
    body: { value },
    edits,
  }));
}

/** Other methods, and other paths. */
function toAddressCases(target: Target): Arbitrary<Case> {
  const { path } = target;
  const addresses = fc.oneof(
    fc.constantFrom(
      ...[path, `${path}/`, `/${path}`, path.toUpperCase(), `${path}%00`, `${path}/..`, `${path}#a`],
      ...["*", "/"],
    ),
    fc.webQueryParameters().map((query) => `${path}?${query}`),
    fc.webPath().map((more) => `${path}${more}x`),
  );
  const methods = fc.constantFrom(
    ...["POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND", "QUERY"],
  );
  return fc.tuple(methods, addresses).map(([method, address]) => ({
    ...toCase("address", target),
    operation: undefined,
    method,
    target: address,
    body: undefined,
  }));
}
