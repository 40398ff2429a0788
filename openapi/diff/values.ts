import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isNode } from "./document.ts";
import { LIST, MAP, ONE, referred } from "./schema.ts";

/** With more schemas than this below one, compiling it takes longer than its values are worth. */
const LARGE = 100;
const compiled = new WeakMap<object, ValidateFunction | null>();
const ajv = new Ajv2020({
  ...{ strict: false, validateSchema: false, logger: false, addUsedSchema: false },
  ...{ unicodeRegExp: true, ownProperties: true },
});
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

/** Whether a value is valid for a schema; undefined where nothing here can say. */
export function isValid(value: unknown, schema: unknown): boolean | undefined {
  if (!isNode(schema)) return schema !== false;
  const known = compiled.get(schema);
  const validate = known === undefined ? compile(schema) : known;
  compiled.set(schema, validate);
  try {
    return validate?.(value) as boolean | undefined;
  } catch {
    return undefined; // a schema that refers to itself without end
  }
}

function compile(schema: object): ValidateFunction | null {
  const references = new Map<string, unknown>();
  const collect = (part: unknown): void => {
    if (!isNode(part) || references.size > LARGE) return;
    const { $ref } = part;
    const target = typeof $ref !== "string" || references.has($ref) ? undefined : referred($ref);
    if (target) collect(references.set(String($ref), target.schema).get(String($ref)));
    for (const name of ONE) collect(part[name]);
    for (const name of [...LIST, ...MAP]) Object.values(part[name] ?? {}).forEach(collect);
  };
  collect(schema);
  if (references.size > LARGE) return null;
  try {
    for (const [name, target] of references) if (!ajv.getSchema(name)) ajv.addSchema(target as object, name);
    return ajv.compile(schema);
  } catch {
    return null;
  }
}
