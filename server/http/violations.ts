import type { Violation } from "./problem.ts";
import { toPointer } from "./raw-json.ts";

/** A fault as the validator reports it: `/body/…` and the JSON Schema keyword that failed. */
export interface ValidatorError {
  path: string;
  message: string;
  errorCode?: string;
}

/** Translates the validator's faults of a body into violations, one for each field (D07). */
export function toViolations(errors: readonly ValidatorError[], body: unknown): Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of errors) {
    const keyword = error.errorCode?.split(".")[0] ?? "";
    // Says that a branch does not hold; the faults inside the branch are reported as well.
    if (keyword === "if") continue;
    const pointer = toBodyPointer(error.path, keyword, body);
    if (!violations.has(pointer))
      violations.set(pointer, { pointer, message: toMessage(keyword, error.message) });
  }
  return [...violations.values()];
}

const PREFIX = /^\/body/;

/** The validator appends the name of an unknown field without escaping it. */
function toBodyPointer(path: string, keyword: string, body: unknown): string {
  const pointer = path.replace(PREFIX, "");
  if (keyword !== "additionalProperties") return pointer;
  for (let slash = pointer.indexOf("/"); slash !== -1; slash = pointer.indexOf("/", slash + 1)) {
    const holder = resolvePointer(body, pointer.slice(0, slash));
    const name = pointer.slice(slash + 1);
    if (holder !== undefined && Object.hasOwn(holder, name))
      return pointer.slice(0, slash) + toPointer([name]);
  }
  return pointer;
}

/** The object or list that a pointer names, if there is one. */
export function resolvePointer(body: unknown, pointer: string): object | undefined {
  let value = body;
  for (const escaped of pointer.split("/").slice(1)) {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === "object" && value !== null ? value : undefined;
}

function toMessage(keyword: string, message: string): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
      return "is not a field of this object; remove it";
    case "enum":
      return message.replace(/^.*allowed values: /, "must be one of: ");
    case "type":
      return typeMessage(message);
    case "minLength":
      return message.includes("fewer than 1 char") ? "must not be empty" : lowerCaseNot(message);
    case "pattern":
      return message.includes("\\u0000") ? "must not hold U+0000 or a lone surrogate" : readPattern(message);
    case "format":
      return message.includes('"uri"')
        ? "must be a URL, such as https://merchant.example.com/webhooks"
        : message;
    default:
      return lowerCaseNot(message);
  }
}

function typeMessage(message: string): string {
  const type = message.replace("must be ", "");
  if (type === "array") return "must be a list, also for a single value";
  return `must be ${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function propertiesMessage(_whole: string, bound: string, count: string): string {
  return `must have at ${bound === "fewer" ? "least" : "most"} ${count} field${count === "1" ? "" : "s"}`;
}

const FORMATS: Record<string, string> = {
  uri: "must be a URL, such as https://merchant.example.com/webhooks",
  "date-time": "must be a time, such as 2026-11-25T14:30:00Z",
  duration: "must be a duration, such as PT30M or P1D",
};

function formatMessage(message: string): string {
  return FORMATS[message.match(/"(.+)"/)?.[1] ?? ""] ?? message;
}

function readPattern(message: string): string {
  return message.includes("A-Za-z0-9 ") ? "may hold only ASCII letters, digits and spaces" : message;
}

function lowerCaseNot(message: string): string {
  return message.replace("must NOT have", "must not have");
}
