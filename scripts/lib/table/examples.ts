import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { locate, members, type Node, step } from "../constraints/pointer.ts";

/** The document's own examples that its schemas do not allow. */
export function* wrongExamples(document: Node): Generator<string> {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");
  const isAllowed = (pointer: string, value: unknown) => {
    const reference = `contract#${pointer}`;
    return (ajv.getSchema(reference) ?? ajv.compile({ $ref: reference }))(value);
  };

  for (const message of messagesOf(document)) {
    const [here, { content, headers }] = locate(document, message);
    for (const [type, { schema, examples }] of members(content)) {
      if (schema === undefined) continue;
      for (const [name] of members(examples)) {
        const pointer = `${here}/content${step(type)}`;
        const [, { value }] = locate(document, `${pointer}/examples${step(name)}`);
        if (!isAllowed(`${pointer}/schema`, value)) yield `${pointer} ${name}`;
      }
    }
    for (const [name] of members(headers)) {
      const [pointer, { example }] = locate(document, `${here}/headers${step(name)}`);
      if (example !== undefined && !isAllowed(`${pointer}/schema`, example)) yield pointer;
    }
  }
}

/** Where requests and responses stand. */
function messagesOf(document: Node): string[] {
  return ["paths", "webhooks"].flatMap((holder) =>
    members(document[holder]).flatMap(([name, item]) =>
      members(item).flatMap(([method, operation]) => {
        const here = `/${holder}${step(name)}${step(method)}`;
        const responses = Object.keys((operation.responses ?? {}) as Node);
        return [
          ...(operation.requestBody === undefined ? [] : [`${here}/requestBody`]),
          ...responses.map((status) => `${here}/responses${step(status)}`),
        ];
      }),
    ),
  );
}
