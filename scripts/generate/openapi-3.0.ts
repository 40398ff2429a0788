import { Converter } from "@apiture/openapi-down-convert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { isNode, members, type Node } from "../../openapi/document/document-node.ts";
import { KEYWORDS } from "../../openapi/document/known-keywords.ts";

/**
 * Keywords of JSON Schema that OpenAPI 3.0 lacks. `docs/guides/clients-by-language.md` says what is lost with each. The conditions
 * have no replacement: for a `oneOf`, the generators for Rust, Kotlin and C# create a type that can't read refunds, and for
 * a `not` with several parts, openapi-generator creates Go code that does not compile.
 */
const LOST_KEYWORDS = Object.keys(KEYWORDS).filter((name) => KEYWORDS[name]?.newIn31);

/** The address of a callback: the URL that the subscription names. */
const CALLBACK_URL = "{$request.body#/url}";

/** Converts a document to OpenAPI 3.0.3, for tools that do not read 3.1. Throws when a validator for 3.0 refuses the result. */
export async function toOpenApi30(document: Node): Promise<Node> {
  const { info, webhooks, paths, components } = document;
  const prepared = {
    openapi: document.openapi,
    info: toInfo(asNode(info)),
    servers: document.servers,
    security: withoutScopes(document.security),
    tags: document.tags,
    externalDocs: document.externalDocs,
    paths: mapOperations(paths, (operation) => withCallbacks(operation, asNode(webhooks))),
    components,
  };
  const converted = new Converter(structuredClone(prepared)).convert();
  const result = simplify(asNode(converted));
  const { valid, errors } = await new Validator().validate(structuredClone(result));
  if (!valid) throw new Error(`The twin is not OpenAPI 3.0: ${JSON.stringify(errors)}`);
  return result;
}

/** OpenAPI 3.0 has no summary of a document: it becomes the first paragraph of the description. */
function toInfo({ summary, description, ...rest }: Node): Node {
  return { ...rest, description: `${summary}\n\n${description}` };
}

/**
 * The callbacks are written out in the operation that takes their address, because NSwag and openapi-generator 7.0 reject a
 * document with `components.callbacks`. No operation has scopes, which 3.0 allows for OAuth 2.0 only.
 */
function withCallbacks(operation: Node, webhooks: Node): Node {
  const security = "security" in operation ? { security: withoutScopes(operation.security) } : {};
  if (operation.operationId !== "subscribeToWebhooks") return { ...operation, ...security };
  const callbacks = Object.fromEntries(
    members(webhooks).map(([name, item]) => [name, { [CALLBACK_URL]: item }]),
  );
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

const STATUS = "RefundStatus";

/**
 * Leaves out or inlines what generators can't read. Generated Perl makes an object of a named enumeration, and loses the status of
 * every refund. With discriminators, generated Rust has an enum without variants, and Kotlin an interface that nothing implements;
 * the constant tags distinguish the branches. A property that is called `type` or `discriminator` has a schema there, and so is
 * kept.
 */
function simplify(document: Node): Node {
  const { schemas } = document.components as { schemas: Record<string, unknown> };
  const status = schemas[STATUS];
  delete schemas[STATUS];
  return JSON.parse(JSON.stringify(document), (_, part: unknown) => {
    if (!isNode(part)) return part;
    if (part.$ref === `#/components/schemas/${STATUS}`) return status;
    const lost = [
      ...(typeof asNode(part.discriminator).propertyName === "string" ? ["discriminator"] : []),
      ...(typeof part.type === "string" ? LOST_KEYWORDS : []),
    ];
    return Object.fromEntries(Object.entries(part).filter(([key]) => !lost.includes(key)));
  });
}

function asNode(part: unknown): Node {
  return isNode(part) ? part : {};
}
