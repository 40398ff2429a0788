import type { ErrorObject } from "ajv/dist/2020.js";

/** What is wrong with a field and what to send instead. */
export function toMessage({ keyword, params, message = "is not as the contract says" }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
      return "is not a field of this object; remove it";
    case "enum":
      return `must be one of: ${params.allowedValues.join(", ")}`;
    case "type":
      return typeMessage([params.type].flat());
    case "pattern":
      return patternMessage(params.pattern, message);
    case "format":
      return FORMATS[params.format] ?? message;
    case "uniqueItems":
      return "must hold each value once";
    case "minLength":
    case "minItems":
    case "minProperties":
      return countMessage("least", params.limit, COUNTED[keyword]);
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return countMessage("most", params.limit, COUNTED[keyword]);
    default:
      return message;
  }
}

const FORMATS: Record<string, string> = {
  uri: "must be a URL, such as https://merchant.example.com/webhooks",
  "date-time": "must be a time, such as 2026-11-25T14:30:00Z",
  duration: "must be a duration, such as PT30M or P1D",
};

const COUNTED = {
  minLength: "character",
  maxLength: "character",
  minItems: "item",
  maxItems: "item",
  minProperties: "field",
  maxProperties: "field",
};

function typeMessage(types: readonly string[]): string {
  if (types[0] === "array") return "must be a list, also for a single value";
  const type = types.join(" or ");
  return `must be ${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function patternMessage(pattern: string, message: string): string {
  if (pattern.includes("\\u0000")) return "must not hold U+0000 or a lone surrogate";
  return pattern.includes("A-Za-z0-9 ") ? "may hold only ASCII letters, digits and spaces" : message;
}

function countMessage(bound: "least" | "most", limit: number, noun: string): string {
  if (bound === "least" && limit === 1 && noun === "character") return "must not be empty";
  return `must have at ${bound} ${limit} ${limit === 1 ? noun : `${noun}s`}`;
}
