import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { stepsOf } from "../document/pointer.ts";
import {
  type Context,
  type DocumentNode,
  isCondition,
  type Location,
  type Rule,
  toList,
  typesOf,
} from "./redocly-types.ts";

/**
 * Keeps money exact (D13): no `multipleOf`, two fraction digits on every number, and amounts in examples that are written the way a
 * caller has to write them. Numbers that are not money are integers in this contract.
 */
export const amounts: Rule = () => ({
  Schema(schema, ctx) {
    checkSchema(schema, ctx);
    for (const keyword of ["example", "default"])
      checkExample(schema[keyword], ctx.location.child(keyword), ctx);
    for (const [index, example] of toList(schema.examples).entries())
      checkExample(example, ctx.location.child(["examples", index]), ctx);
  },
  MediaType: (media, ctx) => checkExample(media.example, ctx.location.child("example"), ctx),
  Example: (example, ctx) => checkExample(example.value, ctx.location.child("value"), ctx),
});

/** The form of an amount in an example: written plainly, as callers should write it (D13). */
const AMOUNT = /^(0|[1-9]\d*)(\.\d{1,2})?$/;

function checkSchema(schema: DocumentNode, ctx: Context): void {
  const report = (message: string, keyword: string) =>
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  if ("multipleOf" in schema) {
    const message = "`multipleOf` refuses valid amounts such as 19.99: replace it by `x-fraction-digits: 2`.";
    report(message, "multipleOf");
  }
  const digits = schema["x-fraction-digits"];
  const isNumber = typesOf(schema).includes("number");
  if (isNumber && digits === undefined && !isCondition(ctx))
    report("A number is money: add `x-fraction-digits: 2`, or say `type: integer`.", "type");
  if (isNumber && digits !== undefined && digits !== 2)
    report("`x-fraction-digits` has to be 2.", "x-fraction-digits");
  if (!isNumber && digits !== undefined)
    report("`x-fraction-digits` belongs on `type: number`: remove it.", "x-fraction-digits");
}

/** Checks each amount in an example: each `value` beside a `currency`. */
function checkExample(value: unknown, location: Location, ctx: Context): void {
  if (typeof value !== "object" || value === null) return;
  if ("currency" in value && "value" in value) {
    const at = location.child("value");
    const literal = numberLiteral(at) ?? JSON.stringify(value.value);
    const message = `${literal} is not how an amount is written: use digits, and at most two after the point, such as 10.00.`;
    if (!AMOUNT.test(literal)) ctx.report({ message, location: at });
  }
  for (const [name, child] of Object.entries(value)) checkExample(child, location.child(name), ctx);
}

const contents = new WeakMap<Location["source"], unknown>();

/** The characters of a number in its file, which its parsed value no longer shows: `10.10` and `1e1` both parse. */
function numberLiteral({ source, pointer }: Location): string | undefined {
  if (!contents.has(source)) contents.set(source, parseDocument(source.body));
  const document = contents.get(source) as ReturnType<typeof parseDocument>;
  let node: unknown = document.contents;
  for (const step of stepsOf(pointer)) {
    const holder: Node | undefined = isAlias(node) ? node.resolve(document) : (node as Node);
    if (isSeq(holder)) node = holder.items[Number(step)];
    else node = isMap(holder) ? holder.get(step, true) : undefined;
  }
  return isScalar(node) && typeof node.value === "number" ? node.source : undefined;
}
