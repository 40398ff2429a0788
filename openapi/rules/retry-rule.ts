import { isDeepStrictEqual } from "node:util";
import { type Context, type DocumentNode, isNode, type Rule } from "./redocly-types.ts";

/** Holds each operation that callers call, and each of its responses, to an `x-retry` that programs can follow (D34). */
export const retry: Rule = () => ({
  Paths: {
    Operation: (operation, ctx) => check(operation, "operation", ctx),
    Response: (response, ctx) => check(response, "response", ctx),
  },
});

const OUTCOMES = ["nothing", "unknown", "recorded"];
const WHEN = ["retry-after", "backoff", "cause-gone"];
const FORM = `write { outcome: ${OUTCOMES.join(" | ")}, repeat: never | changed } or { outcome: …, repeat: same, when: ${WHEN.join(" | ")} }`;

function check(node: DocumentNode, what: string, ctx: Context): void {
  if (!("x-retry" in node)) {
    ctx.report({ message: `The ${what} does not say whether to repeat the call: add \`x-retry\`.` });
    return;
  }
  const location = ctx.location.child("x-retry");
  const { outcome, repeat, when } = isNode(node["x-retry"]) ? node["x-retry"] : {};
  const isKnown = OUTCOMES.includes(String(outcome)) && ["never", "changed", "same"].includes(String(repeat));
  const isTimed = repeat === "same" ? WHEN.includes(String(when)) : when === undefined;
  const whole = when === undefined ? { outcome, repeat } : { outcome, repeat, when };
  if (!isKnown || !isTimed || !isDeepStrictEqual(whole, node["x-retry"]))
    ctx.report({ message: `\`x-retry\` has another form: ${FORM}.`, location });
  const { "Retry-After": header } = isNode(node.headers) ? node.headers : {};
  if (when === "retry-after" && header === undefined)
    ctx.report({ message: "The response has no `Retry-After`, which its `x-retry` relies on.", location });
}
