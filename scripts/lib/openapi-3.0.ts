import { Converter } from "@apiture/openapi-down-convert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { isNode, members, type Node } from "./document/node.ts";

/**
 * Keywords of JSON Schema that OpenAPI 3.0 lacks. What is lost with each stands in `docs/guides/older-openapi.md`. Nothing
 * stands in for the conditions: of a `oneOf`, generators of Rust, Kotlin and C# make a type that reads no refund, and of a
 * `not` with parts, openapi-generator makes Go that does not compile.
 */
const LOST_KEYWORDS = ["dependentRequired", "if", "then", "else", "x-portability"];

/** Where a callback goes: the address that the subscription names. */
const CALLBACK_URL = "{$request.body#/url}";

/**
 * Writes a bundled OpenAPI 3.1 document as OpenAPI 3.0.3, for tools that do not read 3.1. The converter does what it can, and
 * the rest is done here. Throws when a validator of 3.0 refuses the result.
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

/** A webhook as a callback, with the schema of its body under its title, so that generators make a type of it. */
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
 * The operation that takes the callbacks' address has them, whole: of `components.callbacks`, NSwag and openapi-generator 7.0
 * say that the document is invalid. No operation has scopes, which 3.0 allows for OAuth 2.0 only.
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

/** Only a schema has a `type` that is a word; a property of such a name would stand in `properties`. */
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
