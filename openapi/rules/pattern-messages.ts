import { isNode, isReason, type Rule, type Visit, visitRequestNodes } from "./redocly.ts";

/**
 * Every pattern in a request says in `x-pattern-message` what it requires. The server sends that text in a violation,
 * because callers can't be expected to read regular expressions.
 */
export const patternMessages: Rule = () => {
  const requested = new Set<unknown>();
  const requireMessages: Visit = (schema, ctx) =>
    visitRequestNodes(schema, ctx, requested, (node, location) => {
      if (typeof node.pattern !== "string" || "x-pattern-message" in node) return;
      const message = "The pattern has no message for callers: add `x-pattern-message`.";
      ctx.report({ message, location: location.child("pattern").key() });
    });
  return {
    Schema(schema, ctx) {
      if (!isNode(schema) || !("x-pattern-message" in schema)) return;
      if (!("pattern" in schema)) {
        ctx.report({ message: "`x-pattern-message` belongs beside a `pattern`: remove it." });
      } else if (!isReason(schema["x-pattern-message"])) {
        ctx.report({ message: "`x-pattern-message` has to say in words what the pattern requires." });
      }
    },
    Paths: { RequestBody: { Schema: requireMessages }, Parameter: { Schema: requireMessages } },
  };
};
