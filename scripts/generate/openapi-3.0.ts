import { Converter } from "@apiture/openapi-down-convert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { KEYWORDS } from "../../openapi/document/keywords.ts";
import { isNode, members, type Node } from "../../openapi/document/node.ts";

/**
 * Keywords of JSON Schema that OpenAPI 3.0 lacks. `docs/guides/older-openapi.md` says what is lost with each. The conditions
 * have no replacement: for a `oneOf`, the generators for Rust, Kotlin and C# create a type that can't read refunds, and for
 * a `not` with several parts, openapi-generator creates Go code that does not compile.
 */
const LOST_KEYWORDS = Object.keys(KEYWORDS).filter((name) => KEYWORDS[name]?.newIn31);

/** The address of a callback: the URL that the subscription names. */
const CALLBACK_URL = "{$request.body#/url}";

/**
 * Writes a bundled OpenAPI 3.1 document as OpenAPI 3.0.3, for tools that do not read 3.1. A converter does most of it, and
 * this code the rest. Throws when a validator for 3.0 refuses the result.
 */
export async function toOpenApi30(document: Node): Promise<Node> {
  const { info, webhooks, paths, components } = document;
  const { schemas, ...otherComponents } = asNode(components);
  const events = members(webhooks).map(([name, item]) => toCallback(name, item));
  const prepared = {
    openapi: document.openapi,
    info: toInfo(asNode(info)),
    servers: document.servers,
    security: withoutScopes(document.security),
    tags: document.tags,
    paths: mapOperations(paths, (operation) => withCallbacks(operation, events)),
    components: {
      ...otherComponents,
      schemas: {
        ...asNode(schemas),
        ...Object.fromEntries(events.map(({ title, schema }) => [title, schema])),
      },
    },
  };
  const result = withoutLostKeywords(new Converter(structuredClone(prepared)).convert()) as Node;
  const { valid, errors } = await new Validator().validate(structuredClone(result));
  if (!valid) throw new Error(`The twin is not OpenAPI 3.0: ${JSON.stringify(errors)}`);
  return result;
}

/** OpenAPI 3.0 has no summary of a document: it becomes the first paragraph of the description. */
function toInfo({ summary, description, ...rest }: Node): Node {
  return { ...rest, description: `${summary}\n\n${description}` };
}

type Callback = {
  readonly name: string;
  readonly item: Node;
  readonly title: string;
  readonly schema: Node;
};

/** A webhook as a callback, with the schema of its body under its title, so that generators create a type for it. */
function toCallback(name: string, item: Node): Callback {
  const post = asNode(item.post);
  const body = asNode(post.requestBody);
  const content = asNode(body.content);
  const json = asNode(content["application/json"]);
  const schema = asNode(json.schema);
  const title = String(schema.title);
  const reference = { $ref: `#/components/schemas/${title}` };
  const requestBody = { ...body, content: { "application/json": { ...json, schema: reference } } };
  return { name, title, schema, item: { post: { ...post, requestBody } } };
}

/**
 * The callbacks are written out in the operation that takes their address, because NSwag and openapi-generator 7.0 reject a
 * document with `components.callbacks`. No operation has scopes, which 3.0 allows for OAuth 2.0 only.
 */
function withCallbacks(operation: Node, events: readonly Callback[]): Node {
  const security = "security" in operation ? { security: withoutScopes(operation.security) } : {};
  if (operation.operationId !== "subscribeToWebhooks") return { ...operation, ...security };
  const callbacks = Object.fromEntries(events.map(({ name, item }) => [name, { [CALLBACK_URL]: item }]));
  return { ...operation, ...security, callbacks };
}

function withoutScopes(security: unknown): unknown {
  if (!Array.isArray(security)) return security;
  return security.map((requirement) =>
    Object.fromEntries(Object.keys(asNode(requirement)).map((scheme) => [scheme, []])),
  );
}

function mapOperations(paths: unknown, change: (operation: Node) => Node): Node {
  return Object.fromEntries(
    members(paths).map(([path, item]) => [
      path,
      Object.fromEntries(members(item).map(([method, operation]) => [method, change(operation)])),
    ]),
  );
}

/** Only a schema has a `type` that is a string; a property with that name would be in `properties`. */
function withoutLostKeywords(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutLostKeywords);
  if (!isNode(part)) return part;
  const isSchema = typeof part.type === "string";
  const kept = Object.entries(part).filter(([key]) => !(isSchema && LOST_KEYWORDS.includes(key)));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutLostKeywords(value)]));
}

function asNode(part: unknown): Node {
  return isNode(part) ? part : {};
}
