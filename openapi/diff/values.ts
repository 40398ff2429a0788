import { isDeepStrictEqual } from "node:util";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isAmong } from "./cases.ts";
import type { Node } from "./document.ts";
import { EXTENSIONS } from "./extensions.ts";
import { type Count, type Formula, type Names, RANGES, type Term, translate, typeOf } from "./formula.ts";

const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, unicodeRegExp: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
/** A schema that refers to itself without end says nothing. */
const DEPTH = 60;

type Answer = boolean | undefined;
const every = (answers: readonly Answer[]): Answer =>
  answers.includes(false) ? false : answers.includes(undefined) ? undefined : true;
const opposite = (answer: Answer): Answer => (answer === undefined ? undefined : !answer);

/** Whether a formula holds for a value; undefined where nothing here can say. */
export function holds(formula: Formula, value: unknown, depth = 0): Answer {
  if (typeof formula === "boolean" || depth > DEPTH) return depth > DEPTH ? undefined : (formula as boolean);
  const { is, of, parts } = formula;
  const [list, object] = [value as unknown[], value as Node];
  const says = (part: Formula | undefined, one: unknown) => holds(part ?? true, one, depth + 1);
  const own = (name: unknown) => Object.hasOwn(object, String(name));
  const [first] = parts;
  switch (is) {
    case "all":
      return every(parts.map((part) => says(part, value)));
    case "any":
      return opposite(every(parts.map((part) => opposite(says(part, value)))));
    case "not":
      return opposite(says(first, value));
    case "schema":
    case "goal": {
      const answer = says(translate(formula, typeOf(value), false), value);
      const isSure = answer !== false || !/unevaluated/.test(String(Object.keys(of as Node)));
      return isSure || says(translate(formula, typeOf(value), true), value) === false ? answer : undefined;
    }
    case "described":
      return true;
    case "values":
      return (of as unknown[]).some((one) => isDeepStrictEqual(one, value));
    case "has":
      return own(of);
    case "member":
    case "promise":
      return !own(of) || says(first, object[String(of)]);
    case "broken":
      return own(of) && opposite(says(first, object[String(of)]));
    case "members":
      return every(
        Object.entries(object).map(([name, one]) => {
          const isOne = isAmong(of as Names, name);
          return isOne === false || says(first, one) === true ? true : isOne && says(first, one);
        }),
      );
    case "names":
      return every(Object.keys(object).map((name) => says(first, name)));
    case "item":
      return Number(of) >= list.length || says(first, list[Number(of)]);
    case "items":
      return every(list.slice(Number(of)).map((one) => says(first, one)));
    case "count":
      return isCounted(
        of as Count,
        list.map((one) => says(first, one)),
      );
    default:
      return EXTENSIONS[is]?.limits?.allows(of, value) ?? isAllowed(formula, value);
  }
}

function isCounted({ min, max = Number.POSITIVE_INFINITY }: Count, answers: readonly Answer[]): Answer {
  const sure = answers.filter((one) => one === true).length;
  const perhaps = answers.filter((one) => one !== false).length;
  if (perhaps < min || sure > max) return false;
  return sure >= min && perhaps <= max ? true : undefined;
}

const compiled = new Map<Term, ValidateFunction | undefined>();
/** Whether a keyword that has no schemas in it allows a value. */
function isAllowed(keyword: Term, value: unknown): Answer {
  if (!compiled.has(keyword)) compiled.set(keyword, compile(keyword));
  return compiled.get(keyword)?.(value) as Answer;
}

function compile({ is, of }: Term): ValidateFunction | undefined {
  if (is === "format" ? !(String(of) in ajv.formats) : !(is in RANGES)) return undefined;
  try {
    return ajv.compile({ [is]: of });
  } catch {
    return undefined;
  }
}
