import { members, type Node } from "../../../openapi/document/node.ts";
import { type OperationAt, operationsOf } from "../../../openapi/document/operations.ts";
import { holderOf, isWithin, step } from "../../../openapi/document/pointer.ts";
import { type Draft, type Mutant, mutant, put, remove, renameMember } from "./mutant.ts";

/** Changes of paths, methods, operations and the parts around the schemas of their messages. */
export function mutantsOfMessages(document: Node): Mutant[] {
  const operations = operationsOf(document);
  const items = new Set(operations.map(({ pointer }) => holderOf(pointer)));
  return [
    ...[...items].flatMap(ofItem),
    ...operations.flatMap((operation) => [
      mutant(operation.pointer, "method changed", (parent, key) => renameMember(parent, key, "put")),
      ...(operation.kind === "paths" ? ofOperation(operation) : ofReceiver(operation)),
    ]),
    ...ofParts(document),
    ...ofSecurity(document),
  ];
}

function ofItem(pointer: string): Mutant[] {
  const what = isWithin(pointer, "/paths") ? "path" : "webhook";
  return [
    remove(pointer, `${what} removed`),
    mutant(pointer, `${what} renamed`, (parent, key) => renameMember(parent, key, `${key}X`)),
  ];
}

function ofOperation({ pointer, operation }: OperationAt): Mutant[] {
  const [success = "", ...others] = Object.keys(operation.responses as Node);
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
    remove(`${pointer}/requestBody`, "request body removed"),
    ...["202", "204"].map((status) => statusAdded(status, success)),
    ...["402", "418", "422", "502"].map((status) => statusAdded(status, others[0] ?? success)),
  ];
}

function ofReceiver({ pointer, operation: receiver }: OperationAt): Mutant[] {
  return [
    remove(`${pointer}/security`, "security added"),
    remove(`${pointer}/requestBody`, "request body removed"),
    ...members(receiver.parameters).map(([index]) =>
      remove(`${pointer}/parameters/${index}`, "parameter removed"),
    ),
  ];
}

/** Changes of parts that several messages share. */
function ofParts(document: Node): Mutant[] {
  const { parameters, headers, responses } = document.components as Node;
  return [
    ...members(parameters).flatMap(([name, { name: header }]) => [
      put(`/components/parameters/${name}/name`, "parameter renamed", `${header}-x`),
      put(`/components/parameters/${name}/in`, "parameter moved", "query"),
    ]),
    ...members(headers).flatMap(([name, { required }]) =>
      required === true ? [] : [put(`/components/headers/${name}/required`, "optional made required", true)],
    ),
    ...members(responses).flatMap(([name, response]) =>
      Object.keys((response.headers ?? {}) as Node).flatMap((header) => {
        const here = `/components/responses/${name}/headers${step(header)}`;
        return [
          remove(here, "header removed"),
          mutant(here, "header renamed", (holder, key) => renameMember(holder, key, `X-${key}`)),
        ];
      }),
    ),
  ];
}

function ofSecurity(document: Node): Mutant[] {
  const schemes = members((document.components as Node).securitySchemes);
  return [
    remove("/security", "security of the document removed"),
    ...schemes.flatMap(([name]) => [
      remove(`/components/securitySchemes/${name}`, "security scheme removed"),
      put(`/components/securitySchemes/${name}/scheme`, "security scheme changed", "basic"),
      put(`/components/securitySchemes/${name}`, "security scheme changed", {
        type: "apiKey",
        in: "header",
        name: "Authorization",
      }),
    ]),
  ];
}
