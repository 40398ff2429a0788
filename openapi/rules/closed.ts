import { createConditions } from "./conditions.ts";
import { isNode, isReason, type Rule, typesOf } from "./redocly.ts";

/**
 * Holds every object to say whether it takes fields that it does not name: no, or yes and why. The reason in `x-open` says it
 * alone: for a written `additionalProperties: true`, generators make classes that extend a map, and lose the named fields.
 */
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
        if (open !== undefined) report("`x-open` belongs on an object: remove it.", "x-open");
        return;
      }
      if (schema.additionalProperties === true) {
        const message =
          "Generated classes lose their fields to a map: leave `additionalProperties` out, and give the reason in `x-open`.";
        return report(message, "additionalProperties");
      }
      if (open === undefined) {
        if (schema.additionalProperties === false) return;
        const message =
          "The object does not say whether it is closed: add `additionalProperties: false`, or the reason why not in `x-open`.";
        return ctx.report({ message });
      }
      if (schema.additionalProperties !== undefined)
        return report("`x-open` contradicts `additionalProperties`: remove one.", "x-open");
      if (!isReason(open)) report("`x-open` has to give the reason in words.", "x-open");
    },
  };
};
