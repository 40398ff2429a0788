import { createConditions } from "./conditions.ts";
import { numberLiteral } from "./literals.ts";
import { moneyPlaces } from "./money-places.ts";
import { type Context, type DocumentNode, isNode, type Location, type Rule, toList } from "./redocly.ts";
import { typesOf } from "./schema-types.ts";

/** The form of an amount on the wire (D13). */
const amount = /^(0|[1-9]\d*)(\.\d{1,2})?$/;

/**
 * Keeps money exact (D13): no `multipleOf`, two fraction digits said on every number, and examples that are written the
 * way a caller has to write them. What is not money is an integer in this contract.
 */
export const amounts: Rule = () => {
  const conditions = createConditions();
  return {
    Schema(schema, ctx) {
      if (!isNode(schema)) return;
      conditions.enter(schema, ctx);
      checkSchema(schema, ctx, conditions.has(schema));
      for (const keyword of ["example", "default"]) {
        checkExample(schema, schema[keyword], ctx.location.child(keyword), ctx);
      }
      for (const [index, example] of toList(schema.examples).entries()) {
        checkExample(schema, example, ctx.location.child(["examples", index]), ctx);
      }
    },
    MediaType: checkExamples,
    Parameter: checkExamples,
    Header: checkExamples,
  };
};

function checkSchema(schema: DocumentNode, ctx: Context, isCondition: boolean): void {
  const report = (message: string, keyword: string) =>
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  if ("multipleOf" in schema) {
    report(
      "`multipleOf` refuses valid amounts such as 19.99: replace it by `x-fraction-digits: 2`.",
      "multipleOf",
    );
  }
  const digits = schema["x-fraction-digits"];
  if (!typesOf(schema).includes("number")) {
    if (digits !== undefined)
      report("`x-fraction-digits` belongs on `type: number`: remove it.", "x-fraction-digits");
    return;
  }
  if (digits === undefined && !isCondition) {
    report("A number is money: add `x-fraction-digits: 2`, or say `type: integer`.", "type");
  }
  if (digits !== undefined && digits !== 2) report("`x-fraction-digits` has to be 2.", "x-fraction-digits");
}

function checkExamples(holder: DocumentNode, ctx: Context): void {
  checkExample(holder.schema, holder.example, ctx.location.child("example"), ctx);
  for (const [name, example] of Object.entries(isNode(holder.examples) ? holder.examples : {})) {
    const { node, location } = ctx.resolve(example);
    const place = node === example ? ctx.location.child(["examples", name]) : location;
    if (isNode(node) && place) checkExample(holder.schema, node.value, place.child("value"), ctx);
  }
}

function checkExample(schema: unknown, value: unknown, location: Location, ctx: Context): void {
  if (value === undefined) return;
  const places = moneyPlaces(schema, ctx.location.source.absoluteRef, value, ctx.resolve);
  const unique = new Map(places.map((place) => [place.path.join("/"), place]));
  for (const { path, schema: money } of unique.values()) {
    const place = path.length === 0 ? location : location.child(path);
    const message = faultOfAmount(numberLiteral(place) ?? JSON.stringify(valueAt(value, path)), money);
    if (message !== undefined) ctx.report({ message, location: place });
  }
}

function faultOfAmount(literal: string, schema: DocumentNode): string | undefined {
  if (!amount.test(literal)) {
    return `${literal} is not how an amount is written: use digits, and at most two after the point, such as 10.00.`;
  }
  // A balance may be zero, and says so by its minimum.
  if (Number(literal) === 0 && schema.minimum !== 0) return `${literal} is no amount: use more than 0.`;
  return undefined;
}

function valueAt(value: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (Array.isArray(node) || isNode(node) ? Reflect.get(node, key) : undefined),
    value,
  );
}
