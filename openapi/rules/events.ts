import {
  type Context,
  type DocumentNode,
  isEnumerated,
  isNode,
  isReference,
  type Location,
  type Rule,
  type Visit,
} from "./redocly.ts";

/**
 * Holds the bodies of webhooks to what readers of every language decode: a schema with a name, because some generators make no
 * type of any other, and values that may grow, because a generated type throws at a value that its enumeration lacks. Only
 * `type`, which says which event it is, keeps its `const`. What is below the fields of the data is shared with requests.
 */
export const events: Rule = () => {
  const reported = new Set<string>();
  const checkValues = (properties: DocumentNode, at: Location, ctx: Context): void => {
    for (const [name, property] of Object.entries(properties)) {
      const { node, location } = resolveAt(property, at.child(["properties", name]), ctx);
      const position = location.source.absoluteRef + location.pointer;
      if (!isNode(node) || !isEnumerated(node) || reported.has(position)) continue;
      reported.add(position);
      const message = `Readers refuse a new value of \`${name}\` when it is an enumeration: list the values in \`x-extensible-enum\`.`;
      ctx.report({ message, location });
    }
  };
  const checkBody: Visit = ({ schema }, ctx) => {
    if (!isReference(schema)) {
      const message =
        "Common generators make no type of a schema without a name: put it into `components/schemas`, and refer to it.";
      return ctx.report({ message, location: ctx.location.child("schema") });
    }
    const { node: event, location } = resolveAt(schema, ctx.location, ctx);
    const { type: _name, ...properties } = propertiesOf(event);
    checkValues(properties, location, ctx);
    const data = resolveAt(properties.data, location.child(["properties", "data"]), ctx);
    checkValues(propertiesOf(data.node), data.location, ctx);
  };
  return { WebhooksMap: { RequestBody: { MediaType: checkBody } } };
};

/** The target of a reference, and where that is; anything else is where it stands. */
function resolveAt(node: unknown, at: Location, ctx: Context): { node: unknown; location: Location } {
  if (!isReference(node)) return { node, location: at };
  const { node: target, location = at } = ctx.resolve(node, at.source.absoluteRef);
  return { node: target, location };
}

function propertiesOf(schema: unknown): DocumentNode {
  return isNode(schema) && isNode(schema.properties) ? schema.properties : {};
}
