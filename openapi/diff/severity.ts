/** Rates changes by one law: allowing fewer values breaks those who write them, and allowing more breaks those who read them. */
import type { Schema } from "./documents.ts";
import { findExample } from "./example-value.ts";
import type { Effect } from "./extensions.ts";
import { METHODS, stepsOf } from "./json-pointer.ts";

/** What a change requires of the version, the least first. */
export const LEVELS = ["patch", "minor", "major"] as const;
export type Level = (typeof LEVELS)[number];

/** Where something is used, by whom, and whether they write it (`request`) or read it (`response`). */
export type Use = {
  readonly name: string;
  readonly party: "callers" | "receivers";
  readonly direction: "request" | "response";
};

export function levelOf(effect: Effect, direction: Use["direction"]): Level {
  if (effect === "none") return "patch";
  if (effect === "extended") return "minor";
  return effect === (direction === "request" ? "loosened" : "tightened") ? "minor" : "major";
}

/** A difference at one location. */
export type Finding = {
  /** JSON Pointer to the changed part itself, and not to a reference to it. */
  readonly pointer: string;
  /** Where it was before, if it has another place now. */
  readonly old?: string;
  /** Empty when only generated code or readers of the document are concerned. */
  readonly uses: readonly Use[];
  readonly effect: Effect;
  readonly what: string;
  readonly level: Level;
  /** A value that writers may send and readers refuse is an example of what breaks. */
  readonly schemas?: readonly [writers: Schema, readers: Schema];
  /** Breaking even without an example value, such as a removed guarantee. */
  readonly isPromise?: boolean;
};

/** One change of a document, however many operations it affects. */
export type Change = Pick<Finding, "pointer" | "effect" | "level" | "uses"> & {
  /** Such as `RefundRequest.amount`, `POST /v1/refunds body`, `event refund.pending.data`. */
  readonly location: string;
  readonly what: readonly string[];
  /** Rated major to be safe: neither a proof nor an example was found. */
  readonly isAssumed: boolean;
  /** An example: accepted before and refused now, or newly possible in a response. Absent where trying found none. */
  readonly value?: { readonly is: unknown };
};

/** Merges the findings at one location; the most severe changes come first. */
export function toChanges(findings: readonly Finding[]): Change[] {
  const changes = Array.from(Map.groupBy(findings, ({ pointer }) => pointer).values(), toChange);
  return changes.toSorted((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
}

function toChange(group: readonly Finding[]): Change {
  const level = LEVELS.findLast((one) => group.some((finding) => finding.level === one)) ?? "patch";
  const decisive = group.filter((finding) => finding.level === level);
  const [{ pointer, effect, schemas, isPromise }] = decisive as [Finding];
  const isMajor = level === "major";
  const value = isMajor && schemas ? findExample(...schemas) : undefined;
  return {
    ...{ location: locationName(stepsOf(pointer)), pointer, level, effect },
    what: [...new Set(decisive.map(({ what }) => what))],
    uses: [...new Map(decisive.flatMap(({ uses }) => uses.map((use) => [use.name, use]))).values()],
    isAssumed: isMajor && !value && !isPromise && (schemas !== undefined || effect === "unknown"),
    ...(value && { value }),
  };
}

const KINDS = ["responses", "headers", "parameters"];
const STEPS: Record<string, string> = { properties: ".", responses: " ", headers: " header " };

/** A readable name for the element at a path of a document. Steps that mean nothing to a reader are left out. */
export function locationName([first = "", second = "", third = "", ...rest]: readonly string[]): string {
  const steps = rest.map((part, index) => {
    const holder = [third, ...rest][index] ?? "";
    if (holder in STEPS) return `${STEPS[holder]}${part}`;
    return part === "items" ? "[]" : part === "requestBody" && index === rest.length - 1 ? " body" : "";
  });
  const method = METHODS.includes(third) ? `${third.toUpperCase()} ` : "";
  if (first === "components")
    return `${KINDS.includes(second) ? `${second.slice(0, -1)} ` : ""}${third}${steps.join("")}`;
  if (first === "paths") return `${method}${second}${steps.join("")}`;
  if (first === "x-files") return `${second}${third === "properties" ? "" : ` ${third}`}${steps.join("")}`;
  if (first === "webhooks") return `event ${second}${steps.join("")}`;
  return [first, second, third, ...rest].filter((part) => part !== "").join(".");
}
