import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Constraint, type MessageLocation, type Part, toConstraint } from "./constraint.ts";
import { constraintsOfSchema } from "./schema.ts";

/** Members for readers that every object of a document may have. */
const WORDS = ["summary", "description", "x-source", "examples", "example", "deprecated"];

/** The allowed members of objects outside schemas: any other is an error, so that nothing is overlooked. */
const KNOWN = {
  item: [],
  operation: ["operationId", "tags", "security", "parameters", "requestBody", "responses"],
  parameter: ["name", "in", "required", "schema"],
  requestBody: ["required", "content"],
  mediaType: ["schema"],
  response: ["headers", "content"],
  header: ["required", "schema"],
};

const METHODS = ["get", "put", "post", "delete", "patch"];

const CALL: Part = { in: "call" };

/**
 * Every rule of a bundled document that a request, a response or a webhook can violate, in the order of the document. Throws
 * for parts that it does not know.
 */
export function findConstraints(document: Node): Constraint[] {
  return [
    ...members(document.paths).flatMap(([path]) => ofPath(document, "paths", path)),
    ...members(document.webhooks).flatMap(([name]) => ofPath(document, "webhooks", name)),
  ];
}

function ofPath(document: Node, holder: "paths" | "webhooks", name: string): Constraint[] {
  const [pointer, item] = open(document, `/${holder}${step(name)}`, "item", METHODS);
  return METHODS.filter((method) => item[method] !== undefined).flatMap((method) =>
    ofOperation(document, pointer + step(method), holder === "webhooks" ? "webhook" : "request"),
  );
}

function ofOperation(document: Node, pointer: string, side: "request" | "webhook"): Constraint[] {
  const [here, operation] = open(document, pointer, "operation");
  const operationId = String(operation.operationId);
  const place: MessageLocation = { operationId, side, part: CALL, at: "", when: [] };
  const responses: MessageLocation = { ...place, side: side === "webhook" ? side : "response" };
  return [
    ...ofSecurity(document, here, place),
    ...members(operation.parameters).flatMap(([index]) =>
      ofParameter(document, `${here}/parameters${step(index)}`, place),
    ),
    ...(operation.requestBody === undefined ? [] : ofRequestBody(document, `${here}/requestBody`, place)),
    ...members(operation.responses).flatMap(([status]) =>
      ofResponse(document, `${here}/responses${step(status)}`, { ...responses, status }),
    ),
  ];
}

/** An operation's own list replaces the document's, even when it is empty. */
function ofSecurity(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const own = locate(document, pointer)[1].security;
  const value = own ?? document.security ?? [];
  const here = own === undefined ? "/security" : `${pointer}/security`;
  if (!Array.isArray(value) || value.length > 1) throw new Error(`no rule for a choice at ${here}`);
  return members(value).flatMap(([index, requirement]) => [
    toConstraint(place, {
      pointer: here + step(index),
      keyword: "security",
      value: requirement,
      holder: requirement,
    }),
    ...members(requirement).flatMap(([scheme, scopes]) =>
      members(scopes).map(([scope, name]) =>
        toConstraint(place, {
          pointer: here + step(index) + step(scheme) + step(scope),
          keyword: "scope",
          value: name,
          holder: requirement,
        }),
      ),
    ),
  ]);
}

function ofParameter(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const [here, parameter] = open(document, pointer, "parameter");
  const part = { in: parameter.in, name: parameter.name } as Part;
  return ofNamedValue(document, here, { ...place, part });
}

function ofHeader(document: Node, pointer: string, name: string, place: MessageLocation): Constraint[] {
  const [here] = open(document, pointer, "header");
  return ofNamedValue(document, here, { ...place, part: { in: "header", name } });
}

function ofNamedValue(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const [, holder] = locate(document, pointer);
  const required = { pointer: `${pointer}/required`, keyword: "required", value: true, holder };
  return [
    ...(holder.required === true ? [toConstraint(place, required)] : []),
    ...constraintsOfSchema(document, `${pointer}/schema`, place),
  ];
}

function ofRequestBody(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const [here, body] = open(document, pointer, "requestBody");
  const required = { pointer: `${here}/required`, keyword: "requestBody", value: true, holder: body };
  return [
    ...(body.required === true ? [toConstraint(place, required)] : []),
    ...ofContent(document, here, place),
  ];
}

function ofResponse(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const [here, response] = open(document, pointer, "response");
  return [
    toConstraint(place, { pointer, keyword: "status", value: place.status, holder: response }),
    ...members(response.headers).flatMap(([name]) =>
      ofHeader(document, `${here}/headers${step(name)}`, name, place),
    ),
    ...ofContent(document, here, place),
  ];
}

function ofContent(document: Node, pointer: string, place: MessageLocation): Constraint[] {
  const { content } = locate(document, pointer)[1];
  if (content === undefined) return [];
  const value = Object.keys(content as Node);
  const types = { pointer: `${pointer}/content`, keyword: "content", value, holder: content as Node };
  const schemas = value.flatMap((mediaType) => {
    const [here] = open(document, types.pointer + step(mediaType), "mediaType");
    return constraintsOfSchema(document, `${here}/schema`, { ...place, part: { in: "body", mediaType } });
  });
  return [toConstraint(place, types), ...schemas];
}

/** The object at a pointer. Throws when it has an unknown member. */
function open(
  document: Node,
  pointer: string,
  kind: keyof typeof KNOWN,
  more: string[] = [],
): [string, Node] {
  const [here, part] = locate(document, pointer);
  const known = [...KNOWN[kind], ...WORDS, ...more];
  const unknown = Object.keys(part).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no rule for ${unknown} at ${here}`);
  return [here, part];
}
