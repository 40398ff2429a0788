import type { Node } from "../../../openapi/document/document-node.ts";
import type { Mutant } from "./mutant.ts";

/** Mutants that mean the same as the document, so that nothing can detect them. */
export type Equivalent = {
  readonly reason: string;
  /** Whether a mutant is one of these; `holder` is the part of the document that contains the change. */
  matches(mutant: Mutant, holder: Node): boolean;
};

const named =
  (pointer: RegExp, kinds: RegExp): Equivalent["matches"] =>
  (mutant) =>
    pointer.test(mutant.pointer) && kinds.test(mutant.kind);

/** Every mutant of these kinds must survive, and each kind must have one, so that the list can't become stale. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    reason: "An `enum` or `const` of texts beside it allows no other type.",
    matches: ({ name }, holder) =>
      /\/type type (removed$|changed to \[)/.test(name) && ("enum" in holder || "const" in holder),
  },
  {
    reason: "A header that is there is a text, and never null.",
    matches: ({ name }, { type }) =>
      type === "string" &&
      /^\/components\/(headers|parameters)\/\w+\/schema\/type type (removed|changed to \["string","null"\])$/.test(
        name,
      ),
  },
  {
    reason: "The pattern begins as a URI, so it says as much as the format does.",
    matches: ({ name }) => /\/SubscriptionRequest\/properties\/url\/format .*uri-reference"$/.test(name),
  },
  {
    reason: "The shortest `uri` that validators allow has three characters.",
    matches: named(/\/SubscriptionRequest\/properties\/url\/minLength$/, /^minLength /),
  },
  {
    reason: "The pattern has 45 characters and begins as a URI: it says as much as length and format do.",
    matches: ({ name }) =>
      /\/ProblemInstance\/(format format (removed|.*uri-reference"$)|maxLength maxLength (changed to 46|removed))/.test(
        name,
      ),
  },
  {
    reason: "A text of at most 45 characters holds the pattern of 45 only as a whole.",
    matches: named(/\/ProblemInstance\/pattern$/, /^pattern: (Beginning|End) of line/),
  },
  {
    reason: "A `traceparent` has 55 characters by its pattern already.",
    matches: ({ name }) =>
      /\/WebhookTraceparent\/schema\/(minLength minLength (removed|changed to 54)|maxLength maxLength changed to 56)$/.test(
        name,
      ),
  },
  {
    reason: "A text of 55 characters holds its pattern only as a whole.",
    matches: named(/\/WebhookTraceparent\/schema\/pattern$/, /^pattern: (Beginning|End) of line/),
  },
  {
    reason: "The `const` beside an `enum` of one value says the same.",
    matches: ({ name }, holder) => name.endsWith("/type/enum enum removed") && "const" in holder,
  },
  {
    reason: "Only a sandbox accepts `http://` addresses, so that no call of the kit has one.",
    matches: ({ name }) => name.includes('pattern: Quantifier removal to "^[Hh][Tt][Tt][Pp][Ss]:'),
  },
  {
    reason: "A refund has its `paymentStatus` always, so that the condition needn't require it.",
    matches: ({ name }) =>
      name.startsWith(
        '/components/schemas/Refund/if if changed to {"unevaluatedProperties":true,"required":[]',
      ),
  },
  {
    reason: "Each operation and each webhook says its own security.",
    matches: named(/^\/security$/, /^security of the document removed$/),
  },
];
