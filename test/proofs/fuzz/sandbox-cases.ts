import fc, { type Arbitrary } from "fast-check";
import type { Contract } from "../../../openapi/document/contract.ts";
import { dereference, type Node } from "../../../openapi/document/node.ts";
import { toPointer } from "../../../openapi/document/pointer.ts";
import { requestSchema } from "../../conformance/constraints/json.ts";
import type { Case } from "./case.ts";
import { plainHeaders } from "./headers.ts";
import { styles } from "./json-text.ts";
import { type Schema, toValid } from "./values.ts";

/**
 * The first three change the time, the records or the rights that other calls depend on; the stream does not end by itself.
 */
const LEFT_OUT = new Set(["resetSandbox", "advanceClock", "setRestrictions", "setTomorrow", "streamChanges"]);

type Parameter = { readonly name: string; readonly in: "path" | "query"; readonly schema: Schema };

/** Calls of the sandbox's own operations, with valid and invalid parameters and bodies. */
export function toSandboxCases({ document, operations }: Contract, token: string): Arbitrary<Case> {
  const cases = operations
    .filter(({ id }) => !LEFT_OUT.has(id))
    .map(({ id, path, method }) => {
      const pointer = toPointer(["paths", path, method.toLowerCase()]);
      const parameters = (dereference(document, `${pointer}/parameters`) ?? []) as readonly Parameter[];
      return fc.record({
        ...{ level: fc.constant("sandbox"), operation: fc.constant(id), method: fc.constant(method) },
        target: toAddress(path, parameters),
        headers: fc.constant(plainHeaders(token)),
        body: toBody(document, requestSchema(document, pointer)),
      });
    });
  return fc.oneof(...cases);
}

function toBody(document: Node, pointer: string | undefined): Arbitrary<Case["body"]> {
  if (pointer === undefined) return fc.constant(undefined);
  const schema = dereference(document, pointer) as Schema;
  return fc
    .tuple(fc.oneof(toValid(schema), fc.jsonValue()), styles)
    .map(([value, style]) => ({ value, style }));
}

function toAddress(path: string, parameters: readonly Parameter[]): Arbitrary<string> {
  const values = fc.tuple(
    ...parameters.map(({ schema }) =>
      fc.oneof(toValid(schema), fc.jsonValue(), fc.string({ unit: "binary" })),
    ),
  );
  return values.map((given) => {
    const query = new URLSearchParams();
    let target = path;
    parameters.forEach(({ name, in: position }, at) => {
      const text = typeof given[at] === "string" ? given[at] : JSON.stringify(given[at]);
      if (position === "query") query.append(name, text);
      // Not empty, because that would be another path.
      else target = target.replace(`{${name}}`, encodeURIComponent(text.toWellFormed() || "x"));
    });
    return query.size === 0 ? target : `${target}?${query}`;
  });
}
