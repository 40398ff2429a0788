import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Draft, type Mutant, mutant, put, remove, renameMember } from "./mutant.ts";

/** Changes of paths, methods, operations and the parts around the schemas of their messages. */
export function mutantsOfMessages(document: Node): Mutant[] {
  return [
    ...members(document.paths).flatMap(([path, item]) => ofItem(document, "paths", path, item)),
    ...members(document.webhooks).flatMap(([name, item]) => ofItem(document, "webhooks", name, item)),
    ...ofParts(document),
    ...ofSecurity(document),
  ];
}

function ofItem(document: Node, holder: "paths" | "webhooks", name: string, item: Node): Mutant[] {
  const here = `/${holder}${step(name)}`;
  const what = holder === "paths" ? "path" : "webhook";
  return [
    remove(here, `${what} removed`),
    mutant(here, `${what} renamed`, (parent, key) => renameMember(parent, key, `${key}X`)),
    ...Object.keys(item).flatMap((method) => [
      mutant(here + step(method), "method changed", (parent, key) => renameMember(parent, key, "put")),
      ...(holder === "paths"
        ? ofOperation(document, here + step(method))
        : ofReceiver(document, here + step(method))),
    ]),
  ];
}

function ofOperation(document: Node, pointer: string): Mutant[] {
  const [, operation] = locate(document, pointer);
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

function ofReceiver(document: Node, pointer: string): Mutant[] {
  const [, receiver] = locate(document, pointer);
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
