/** Mutants of the contract outside of constraints: a path, a method, a response or a header removed or changed. */
import type { Constraint } from "../../../openapi/document/constraints.ts";
import { locate, members, type Node, walk } from "../../../openapi/document/document-node.ts";
import { type OperationAt, operationsOf } from "../../../openapi/document/list-operations.ts";
import { holderOf, isWithin, step, toPointer } from "../../../openapi/document/pointer.ts";
import { type Draft, type Mutant, mutant, put, remove, renameMember } from "./mutant.ts";

/** Changes of paths, methods and operations, of the parts around the schemas of their messages, and of the shape of schemas. */
export function mutantsOfDocument(document: Node, constraints: readonly Constraint[]): Mutant[] {
  const operations = operationsOf(document);
  const items = new Set(operations.map(({ pointer }) => holderOf(pointer)));
  const typed = constraints.flatMap(({ keyword, pointer }) => (keyword === "type" ? holderOf(pointer) : []));
  return [
    ...[...items].map((pointer) =>
      remove(pointer, `${isWithin(pointer, "/paths") ? "path" : "webhook"} removed`),
    ),
    ...operations.flatMap((operation) => [
      mutant(operation.pointer, "method changed", (item, method) => renameMember(item, method, "put")),
      remove(`${operation.pointer}/requestBody`, "request body removed"),
      ...(operation.kind === "paths" ? ofOperation(operation) : ofReceiver(operation)),
    ]),
    ...ofParts(document.components as Node),
    remove("/security", "security of the document removed"),
    ...[...new Set(typed)].flatMap((pointer) => ofSchema(pointer, locate(document, pointer)[1])),
  ];
}

function ofOperation({ pointer, operation }: OperationAt): Mutant[] {
  const [success = "", other = success] = Object.keys(operation.responses as Node);
  const statusAdded = (status: string, like: string) =>
    mutant(
      `${pointer}/responses`,
      "status added",
      (holder, key) => {
        const responses = holder[key] as Draft;
        responses[status] = responses[like];
      },
      status,
    );
  return [
    put(`${pointer}/operationId`, "operationId changed", `${operation.operationId}X`),
    ...["202", "204"].map((status) => statusAdded(status, success)),
    ...["402", "418", "422", "502"].map((status) => statusAdded(status, other)),
  ];
}

function ofReceiver({ pointer, operation }: OperationAt): Mutant[] {
  const parameters = members(operation.parameters);
  return [
    remove(`${pointer}/security`, "security added"),
    ...parameters.map(([index]) => remove(`${pointer}/parameters/${index}`, "parameter removed")),
  ];
}

/** Changes of parts that several messages share. */
function ofParts({ parameters, headers, responses, securitySchemes, schemas }: Node): Mutant[] {
  const inHeader = { type: "apiKey", in: "header", name: "Authorization" };
  return [
    ...members(parameters).flatMap(([name, { name: header }]) => [
      put(`/components/parameters/${name}/name`, "parameter renamed", `${header}-x`),
      put(`/components/parameters/${name}/in`, "parameter moved", "query"),
    ]),
    ...members(headers).flatMap(([name, { required }]) =>
      required === true ? [] : [put(`/components/headers/${name}/required`, "optional made required", true)],
    ),
    ...members(responses).flatMap(([name, response]) =>
      members(response.headers).map(([header]) =>
        remove(`/components/responses/${name}/headers${step(header)}`, "header removed"),
      ),
    ),
    ...members(securitySchemes).flatMap(([name]) => [
      remove(`/components/securitySchemes/${name}`, "security scheme removed"),
      put(`/components/securitySchemes/${name}/scheme`, "security scheme changed", "basic"),
      put(`/components/securitySchemes/${name}`, "security scheme changed", inHeader),
    ]),
    ...members(schemas).flatMap(([name, { discriminator }]) =>
      [...walk(discriminator)].flatMap(({ path, part }) => {
        const pointer = toPointer(["components", "schemas", name, "discriminator", ...path]);
        const changed = typeof part === "string" ? [put(pointer, "tag changed", `${part}X`)] : [];
        return discriminator ? [remove(pointer, "part of discriminator removed"), ...changed] : [];
      }),
    ),
  ];
}

/** Changes of the members and items of a schema, and of what it leaves open. */
function ofSchema(pointer: string, schema: Node): Mutant[] {
  const required = (schema.required ?? []) as string[];
  const set = (kind: string, keyword: string, value: unknown, detail?: string) =>
    mutant(pointer, kind, (holder, key) => void Reflect.set(holder[key] as Draft, keyword, value), detail);
  return [
    ...members(schema.properties).flatMap(([name, property]) => {
      const here = `${pointer}/properties${step(name)}`;
      const optional = !required.includes(name);
      return [
        remove(here, "property removed"),
        ...(optional ? [set("optional made required", "required", [...required, name], name)] : []),
        ...(property.$ref === undefined ? [] : [put(here, "reference emptied", {})]),
      ];
    }),
    ...(schema.items === undefined
      ? []
      : [remove(`${pointer}/items`, "items removed"), set("uniqueItems added", "uniqueItems", true)]),
    ...(schema.additionalProperties === true
      ? [put(`${pointer}/additionalProperties`, "additionalProperties closed", false)]
      : []),
  ];
}
