import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import { keywordsHolding } from "../document/keywords.ts";
import { stepsOf } from "../document/pointer.ts";
import { createConditions } from "./conditions.ts";
import {
  type Context,
  type DocumentNode,
  isNode,
  type Location,
  type Resolve,
  type Rule,
  toList,
  typesOf,
} from "./redocly.ts";

/** The form of an amount in an example: written plainly, which is what callers should do (D13). */
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
    const position = node === example ? ctx.location.child(["examples", name]) : location;
    if (isNode(node) && position) checkExample(holder.schema, node.value, position.child("value"), ctx);
  }
}

function checkExample(schema: unknown, value: unknown, location: Location, ctx: Context): void {
  if (value === undefined) return;
  const positions = moneyPositions(schema, ctx.location.source.absoluteRef, value, ctx.resolve);
  const unique = new Map(positions.map((position) => [position.path.join("/"), position]));
  for (const { path, schema: money } of unique.values()) {
    const position = path.length === 0 ? location : location.child(path);
    const message = violationOfAmount(numberLiteral(position) ?? JSON.stringify(valueAt(value, path)), money);
    if (message !== undefined) ctx.report({ message, location: position });
  }
}

function violationOfAmount(literal: string, schema: DocumentNode): string | undefined {
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

/** A number inside an example that its schema calls money. */
export type MoneyPosition = { path: (string | number)[]; schema: DocumentNode };

type Step = { schema: unknown; file: string; value: unknown; path: (string | number)[] };

/** Finds the money in a value by walking it along its schema. `file` is the one that the schema stands in. */
export function moneyPositions(
  schema: unknown,
  file: string,
  value: unknown,
  resolve: Resolve,
): MoneyPosition[] {
  return positionsIn({ schema, file, value, path: [] }, resolve, []);
}

/** `above` holds the schemas that describe the same value already, so that a schema made of itself ends. */
function positionsIn(step: Step, resolve: Resolve, above: DocumentNode[]): MoneyPosition[] {
  const { node, location } = resolve(step.schema, step.file);
  if (!isNode(node) || above.includes(node)) return [];
  if ("x-fraction-digits" in node) return [{ path: step.path, schema: node }];

  const here = { ...step, file: location?.source.absoluteRef ?? step.file };
  return [
    ...branchesOf(node, here, resolve).flatMap((branch) => positionsIn(branch, resolve, [...above, node])),
    ...childrenOf(node, here).flatMap((child) => positionsIn(child, resolve, [])),
  ];
}

function branchesOf(schema: DocumentNode, here: Step, resolve: Resolve): Step[] {
  return keywordsHolding("branches")
    .flatMap((keyword) => toList(schema[keyword]))
    .filter((branch) => !isOtherTag(resolve(branch, here.file).node, here.value))
    .map((branch) => ({ ...here, schema: branch }));
}

/** Says whether a `const` of the branch shows that the value belongs to another one. */
function isOtherTag(branch: unknown, value: unknown): boolean {
  if (!isNode(branch) || !isNode(branch.properties) || !isNode(value)) return false;
  return Object.entries(branch.properties).some(
    ([name, tag]) => isNode(tag) && "const" in tag && name in value && value[name] !== tag.const,
  );
}

function childrenOf(schema: DocumentNode, { value, file, path }: Step): Step[] {
  if (Array.isArray(value)) {
    return value.map((item, index) => ({ schema: schema.items, file, value: item, path: [...path, index] }));
  }
  const { properties } = schema;
  if (!isNode(value) || !isNode(properties)) return [];
  return Object.entries(value)
    .filter(([name]) => Object.hasOwn(properties, name))
    .map(([name, child]) => ({ schema: properties[name], file, value: child, path: [...path, name] }));
}

const documents = new WeakMap<Location["source"], Document.Parsed>();

/**
 * The characters that a number is written with in its file, which its parsed value no longer shows: `10.10` and `1e1`
 * both parse. Undefined when there is no number at that location.
 */
export function numberLiteral({ source, pointer }: Location): string | undefined {
  const document = documents.get(source) ?? parseDocument(source.body);
  documents.set(source, document);

  let node: unknown = document.contents;
  for (const segment of stepsOf(pointer)) {
    node = childOf(isAlias(node) ? node.resolve(document) : node, segment);
  }
  const scalar = isAlias(node) ? node.resolve(document) : node;
  return isScalar(scalar) && typeof scalar.value === "number" ? scalar.source : undefined;
}

function childOf(node: unknown, segment: string): unknown {
  if (isSeq(node)) return node.items[Number(segment)];
  // A key such as 201 is a number in YAML and a string in a pointer.
  if (isMap(node))
    return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === segment)?.value;
  return undefined;
}
