import { createConditions } from "./conditions.ts";
import { isNode, isReason, type Rule, typesOf } from "./redocly.ts";

/** Holds every object to say whether it takes fields that it does not name: no, or yes and why. */
export const closed: Rule = () => {
  const conditions = createConditions();
  return {
    Schema(schema, ctx) {
      if (!isNode(schema)) return;
      conditions.enter(schema, ctx);
      if (conditions.has(schema)) return;

      const report = (message: string, keyword: string) =>
        ctx.report({ message, location: ctx.location.child(keyword).key() });
      const open = schema["x-open"];
      if (!typesOf(schema).includes("object")) {
        if ("properties" in schema)
          report("A schema with `properties` has to say `type: object`: add it.", "properties");
        if (open !== undefined)
          report("`x-open` belongs on an object with `additionalProperties: true`: remove it.", "x-open");
        return;
      }
      if (schema.additionalProperties === true) {
        if (isReason(open)) return;
        if (open === undefined)
          report("The object is open: add `x-open` with the reason, or close it.", "additionalProperties");
        else report("`x-open` has to give the reason in words.", "x-open");
        return;
      }
      if (open !== undefined)
        report("`x-open` contradicts an object that is not open: remove it, or open it.", "x-open");
      if (schema.additionalProperties === false) return;
      ctx.report({
        message:
          "The object does not say whether it is closed: add `additionalProperties: false`, or `true` with the reason in `x-open`.",
      });
    },
  };
};
