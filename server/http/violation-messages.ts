/** What is wrong with a field and what to send instead, from the JSON Schema keyword that failed and the validator's words. */
export function toMessage(keyword: string, message: string): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case "additionalProperties":
      return "is not a field of this object; remove it";
    case "enum":
      return message.replace(/^.*allowed values: /, "must be one of: ");
    case "type":
    case "x-eov-type": // the validator's own word for it, where a format is declared
      return typeMessage(message.replace("must be ", ""));
    case "pattern":
      return patternMessage(message);
    case "format":
      return FORMATS[message.match(/"(.+)"/)?.[1] ?? ""] ?? message;
    case "uniqueItems":
      return "must hold each value once";
    default:
      return message.startsWith("must NOT have") ? countMessage(message) : message;
  }
}

const FORMATS: Record<string, string> = {
  uri: "must be a URL, such as https://merchant.example.com/webhooks",
  "date-time": "must be a time, such as 2026-11-25T14:30:00Z",
  duration: "must be a duration, such as PT30M or P1D",
};

function typeMessage(types: string): string {
  const type = types.replaceAll(",", " or ");
  if (type === "array") return "must be a list, also for a single value";
  return `must be ${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function patternMessage(message: string): string {
  if (message.includes("\\u0000")) return "must not hold U+0000 or a lone surrogate";
  return message.includes("A-Za-z0-9 ") ? "may hold only ASCII letters, digits and spaces" : message;
}

/** Bounds on characters, items and fields. */
function countMessage(message: string): string {
  const [, bound, count = "", what = ""] = /(fewer|more) than (\d+) (\w+)/.exec(message) ?? [];
  if (bound === "fewer" && count === "1" && what === "characters") return "must not be empty";
  const noun = what === "properties" ? "fields" : what;
  return `must have at ${bound === "fewer" ? "least" : "most"} ${count} ${count === "1" ? noun.slice(0, -1) : noun}`;
}
