import { KEYWORDS, keywordsHolding } from "../document/known-keywords.ts";
import { type Context, type DocumentNode, isCondition, isNode, type Rule, typesOf } from "./redocly-types.ts";

/** Refuses what generators and validators read differently or drop, unless `x-portability` gives the reason. */
export const portable: Rule = () => ({
  Schema(schema, ctx) {
    checkPattern(schema, ctx);
    checkConditions(schema, ctx);
    if (isCondition(ctx)) return;
    checkFormat(schema, ctx);
    checkTime(schema, ctx);
    checkConstructs(schema, ctx);
  },
});

/** Constructs that common generators drop or stop at, and what to do instead. A schema may give its reason for one. */
const CONSTRUCTS = Object.entries(KEYWORDS).flatMap(([name, { remedy }]): [string, string][] =>
  remedy === undefined ? [] : [[name, remedy]],
);

/**
 * What regular expressions of JavaScript, Go, Rust, PHP, Python and .NET do not read alike: every escape but a digit, a byte and a
 * punctuation mark, every group with a question mark but `(?:`, and possessive quantifiers.
 */
const DIFFERING = /\\(?!d|x[0-7][0-9a-f]|[^\w\s])|\(\?(?!:)|[*+?}]\+/i;

/** The least and the greatest integer of each format; of `int64`, those that JavaScript holds exactly. */
const INTEGERS: Readonly<Record<string, readonly [least: number, greatest: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

function checkPattern({ pattern }: DocumentNode, ctx: Context): void {
  if (typeof pattern !== "string") return;
  const location = ctx.location.child("pattern");
  const [part] = DIFFERING.exec(pattern) ?? [];
  if (part !== undefined)
    ctx.report({ message: `Languages read \`${part}\` of the pattern differently: avoid it.`, location });
  try {
    RegExp(pattern, "u");
  } catch (error) {
    ctx.report({ message: `The pattern does not compile: ${(error as Error).message}`, location });
  }
}

function checkFormat(schema: DocumentNode, ctx: Context): void {
  const { format } = schema;
  const types = typesOf(schema);
  if (types.includes("number") && format !== "double")
    ctx.report({ message: "Generators hold a number without `format: double` in 32 bits: add it." });
  if (!types.includes("integer")) return;
  const range = INTEGERS[String(format)];
  if (range === undefined) {
    ctx.report({ message: "The integer has no format: add `int32` or `int64`." });
    return;
  }
  for (const keyword of ["minimum", "maximum"]) {
    const bound = schema[keyword];
    if (typeof bound !== "number" || (bound >= range[0] && bound <= range[1])) continue;
    const message = `The ${keyword} does not fit into ${String(format)}: use \`int64\`, or another bound.`;
    ctx.report({ message, location: ctx.location.child("format") });
  }
}

/** A generated type holds a time as an object of its language, which has no length. */
function checkTime(schema: DocumentNode, ctx: Context): void {
  if (schema.format !== "date" && schema.format !== "date-time") return;
  for (const keyword of ["minLength", "maxLength"].filter((name) => name in schema)) {
    const message = `Generated clients throw at \`${keyword}\` of a time: remove it, because \`${schema.format}\` bounds it.`;
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  }
}

/** Some validators close every schema that names properties, so that no object matches a condition about one of them. */
function checkConditions(schema: DocumentNode, ctx: Context): void {
  for (const keyword of keywordsHolding("condition")) {
    const condition = schema[keyword];
    if (!isNode(condition) || !("properties" in condition) || condition.unevaluatedProperties === true)
      continue;
    const message = `Validators that take schemas as closed refuse \`${keyword}\`: add \`unevaluatedProperties: true\` to it.`;
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  }
}

function checkConstructs(schema: DocumentNode, ctx: Context): void {
  const reasons = isNode(schema["x-portability"]) ? schema["x-portability"] : {};
  const needed = CONSTRUCTS.filter(([keyword]) => keyword in schema && !isPortable(keyword, schema));
  for (const [keyword, remedy] of needed.filter(([name]) => !(name in reasons))) {
    const message = `Common generators drop \`${keyword}\` or stop at it: ${remedy}, or give the reason in \`x-portability\`.`;
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  }
  for (const keyword of Object.keys(reasons).filter((name) => !needed.some(([other]) => other === name))) {
    const message = `The schema has no \`${keyword}\` that needs a reason: remove it.`;
    ctx.report({ message, location: ctx.location.child(["x-portability", keyword]).key() });
  }
}

/** Generators read a `oneOf` whose discriminator maps each branch. */
function isPortable(keyword: string, { discriminator, oneOf }: DocumentNode): boolean {
  const mapping = isNode(discriminator) ? discriminator.mapping : undefined;
  if (keyword !== "oneOf" || !isNode(mapping)) return false;
  return Array.isArray(oneOf) && Object.keys(mapping).length === oneOf.length;
}
