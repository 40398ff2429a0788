import { isHolder, toPointer, unescapeName } from "../../openapi/document/pointer.ts";
import { type ContractDocument, type Schema, visitNodes } from "./contract-document.ts";
import type { Violation } from "./problem.ts";

/** Translates the validator's errors about a request into violations, one for each field (D07). */
export function toViolations(
  errors: readonly ValidatorError[],
  body: unknown,
  patterns: PatternMessages,
): Violation[] {
  const messages = new Map<string, string>();
  const locate = createLocator(body);
  let namelessMembers = 0;
  for (const { path, message, errorCode = "" } of errors) {
    const [keyword = ""] = errorCode.split(".");
    if (keyword === BRANCH) continue;
    const isUnknown = keyword === UNKNOWN_MEMBER;
    if (isUnknown && path === "") {
      namelessMembers += 1;
      continue;
    }
    const pointer = isUnknown ? locate(withoutBody(path)) : withoutBody(path);
    if (!messages.has(pointer)) messages.set(pointer, toMessage(keyword, message, patterns));
  }
  const nameless = namelessMembers > 0 ? findNameless(body, "", messages).slice(0, namelessMembers) : [];
  for (const pointer of nameless) messages.set(pointer, toMessage(UNKNOWN_MEMBER, "", patterns));
  return [...messages].map(([pointer, message]) => ({ pointer, message }));
}

/** An error of the request validator, such as `{path: "/body/amount/value", errorCode: "type.openapi.validation"}`. */
export type ValidatorError = { path: string; message: string; errorCode?: string };

/** The messages for violations of a pattern, by the pattern. */
export type PatternMessages = ReadonlyMap<string, string>;

/** Collects the messages that the contract gives its patterns (`x-pattern-message`). */
export function readPatternMessages(document: ContractDocument): PatternMessages {
  const messages = new Map<string, string>();
  visitNodes(document, (node) => {
    const { pattern, "x-pattern-message": message } = node as Schema;
    if (typeof pattern === "string" && typeof message === "string") messages.set(pattern, message);
  });
  return messages;
}

/** Reports that a branch does not hold; the errors inside the branch are reported as well. */
const BRANCH = "if";
const UNKNOWN_MEMBER = "additionalProperties";

/** Pointers begin at the body (D07), except those of parameters, which begin with `/query` or `/params`. */
function withoutBody(path: string): string {
  return path.replace(/^\/body(?=\/|$)/, "");
}

/**
 * Finds the pointers of unknown members. The validator appends their names to a path without escaping them, so one path
 * may stand for several members: `/amount/x` for `x` in `amount`, and for `amount/x` at the top. The member with the
 * fewest holders comes first, because nothing inside an unknown member is reported.
 */
function createLocator(body: unknown): (path: string) => string {
  const found = new Map<string, number>();
  return (path) => {
    const count = found.get(path) ?? 0;
    found.set(path, count + 1);
    return membersAt(body, path)[count] ?? path;
  };
}

function membersAt(body: unknown, path: string): string[] {
  const pointers: string[] = [];
  let holder = body;
  let prefix = "";
  let rest = path.slice(1);
  while (isHolder(holder)) {
    if (Object.hasOwn(holder, rest)) pointers.push(prefix + toPointer([rest]));
    const slash = rest.indexOf("/");
    const escaped = rest.slice(0, slash);
    const name = unescapeName(escaped);
    if (slash === -1 || !Object.hasOwn(holder, name)) break;
    prefix += `/${escaped}`;
    holder = holder[name];
    rest = rest.slice(slash + 1);
  }
  return pointers;
}

/** Finds members with an empty name, which no schema declares. The validator reports them without their path. */
function findNameless(holder: unknown, prefix: string, reported: ReadonlyMap<string, string>): string[] {
  if (!isHolder(holder) || reported.has(prefix)) return [];
  const outer = Object.hasOwn(holder, "") ? [`${prefix}/`] : [];
  const inner = Object.entries(holder).flatMap(([name, value]) =>
    name === "" ? [] : findNameless(value, prefix + toPointer([name]), reported),
  );
  return [...outer, ...inner];
}

const FORBIDDEN_CHARACTERS = "must not contain U+0000 or a lone surrogate";

/**
 * One violation for each string with a lone surrogate (D15). A pattern for these does not compile in every language, so the
 * contract states the rule in words. The search skips everything that has a violation already.
 */
export function findSurrogates(value: unknown, known: ReadonlySet<string>): Violation[] {
  // Nearly every body has none, and a search without pointers takes less time.
  return hasSurrogate(value) ? findSurrogatesBelow(value, known, "") : [];
}

function hasSurrogate(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  return isHolder(value) && Object.values(value).some(hasSurrogate);
}

function findSurrogatesBelow(value: unknown, known: ReadonlySet<string>, pointer: string): Violation[] {
  if (typeof value === "string" && !value.isWellFormed() && !known.has(pointer))
    return [{ pointer, message: FORBIDDEN_CHARACTERS }];
  if (!isHolder(value) || (pointer !== "" && known.has(pointer))) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    findSurrogatesBelow(child, known, pointer + toPointer([name])),
  );
}

/** Says what is wrong with a field, and what to send instead. */
function toMessage(keyword: string, text: string, patterns: PatternMessages): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case UNKNOWN_MEMBER:
      return "is not a field of this object; remove it";
    case "enum":
      return text.replace(/^.*allowed values: /, "must be one of: ");
    case "type":
    case "x-eov-type": // the validator's own keyword, which replaces "type" beside "format"
      return typeMessage(text.replace("must be ", ""));
    case "pattern":
      return patterns.get(text.match(/^must match pattern "(.*)"$/s)?.[1] ?? "") ?? text;
    case "format":
      return FORMATS[text.match(/"(.+)"/)?.[1] ?? ""] ?? text;
    case "uniqueItems":
      return "must not contain a value twice";
    default:
      return countMessage(text) ?? text;
  }
}

const FORMATS: Record<string, string> = {
  uri: "must be a URL in ASCII, such as https://merchant.example.com/webhooks: write other letters of a host as punycode (xn--…), and spaces or { } in a path percent-encoded (%7B)",
  "date-time": "must be a time, such as 2026-11-25T14:30:00Z",
  duration: "must be a duration, such as PT30M or P1D",
};

/** @param types as Ajv lists them, such as `string,null` */
function typeMessage(types: string): string {
  if (types === "array") return "must be a list, even for a single value";
  const type = types.replaceAll(",", " or ");
  return `must be ${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

const COUNTED: Record<string, string> = { characters: "character", items: "item", properties: "field" };

/** Rewrites `must NOT have more than 80 characters`; returns undefined for any other text. */
function countMessage(text: string): string | undefined {
  const [, bound, count = "", plural = ""] = /^must NOT have (fewer|more) than (\d+) (\w+)$/.exec(text) ?? [];
  const noun = COUNTED[plural];
  if (noun === undefined) return undefined;
  if (bound === "fewer" && count === "1" && noun === "character") return "must not be empty";
  return `must have at ${bound === "fewer" ? "least" : "most"} ${count} ${count === "1" ? noun : `${noun}s`}`;
}
