import { isDeepStrictEqual } from "node:util";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { EXTENSIONS } from "./extensions.ts";
import { RANGES, type Term } from "./formula.ts";

const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, unicodeRegExp: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
const compiled = new Map<Term, ValidateFunction | undefined>();

/** Whether a term holds for a value without parts; undefined where nothing here can say. */
export function allows(one: Term, value: unknown): boolean | undefined {
  if (one.is === "values") return (one.of as unknown[]).some((other) => isDeepStrictEqual(value, other));
  const { limits } = EXTENSIONS[one.is] ?? {};
  if (limits) return limits.allows(one.of, value);
  if (!compiled.has(one)) compiled.set(one, compile(one));
  return compiled.get(one)?.(value) as boolean | undefined;
}

function compile({ is, of }: Term): ValidateFunction | undefined {
  if (is === "format" ? !(String(of) in ajv.formats) : !(is in RANGES)) return undefined;
  try {
    return ajv.compile({ [is]: of });
  } catch {
    return undefined;
  }
}
