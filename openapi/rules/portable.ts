import { KEYWORDS, keywordsHolding } from "../document/keywords.ts";
import { createConditions } from "./conditions.ts";
import { type Context, type DocumentNode, isNode, isReason, type Rule, typesOf } from "./redocly.ts";
import { ENGINES } from "./regex-engines.ts";

/** Constructs that common generators drop or stop at, and what to do instead. A schema may give its reason for one. */
const CONSTRUCTS = Object.entries(KEYWORDS).flatMap(([name, { remedy }]): [string, string][] =>
  remedy === undefined ? [] : [[name, remedy]],
);

/**
 * Texts in which a pattern must be found by all engines or by none. None ends in a line feed: `$` also matches before it in
 * PCRE2, Python and Ruby, and no syntax that compiles everywhere says otherwise.
 */
const TEXTS = [
  ...[
    "",
    "a",
    "Z",
    "9",
    "a b",
    "a-b",
    "a_b",
    "\t",
    "a\nb",
    "\r",
    "\x01",
    "\x7f",
    "/",
    ":",
    "@",
    "[",
    "`",
    "{",
  ],
  ...[
    "\0",
    "a\0",
    "\0a",
    "a\0b",
    "a\n\0",
    "\u0080",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\ufffd",
    "\ud7ff",
    "\ue000",
  ],
  // An accented letter, as one character and with a combining mark; a letter that folds to ASCII; other scripts' digits.
  ...["é", "e\u0301", "\u017f", "\u212a", "\u0663", "\uff21", "字", "😀", "a😀b", "👩‍👩‍👧", "\u{10ffff}"],
  ...["urn:uuid:3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c01", "urn:uuid:3F0C8D5E-7B1A-4C62-9D84-0A6E5F2B1C01"],
  ...["2026-11-18T15:30:00.125Z", "2026-11-18T15:30:00-05:00", "٢٠٢٦-11-18T15:30:00Z"],
];

/** The least and the greatest integer of each format; of `int64`, those that JavaScript holds exactly. */
const INTEGERS: Readonly<Record<string, readonly [least: number, greatest: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/**
 * Holds schemas to what generators and validators of every language read alike: patterns that compile and mean the same in
 * all, a format on every number, and no construct that is dropped without a reason in `x-portability`.
 */
export const portable: Rule = () => {
  const conditions = createConditions();
  return {
    Schema(schema, ctx) {
      if (!isNode(schema)) return;
      conditions.enter(schema, ctx);
      checkPattern(schema, ctx);
      checkConditions(schema, ctx);
      if (conditions.has(schema)) return;
      checkFormat(schema, ctx);
      checkTime(schema, ctx);
      checkConstructs(schema, ctx);
    },
  };
};

function checkPattern({ pattern }: DocumentNode, ctx: Context): void {
  if (typeof pattern !== "string") return;
  const location = ctx.location.child("pattern");
  const results = new Map<string, string>();
  for (const [engine, compile] of Object.entries(ENGINES)) {
    try {
      const isFound = compile(pattern);
      results.set(engine, TEXTS.map((text) => (isFound(text) ? "1" : "0")).join(""));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ctx.report({
        message: `The pattern does not compile in ${engine} (${reason}): write it otherwise.`,
        location,
      });
    }
  }
  const [[first = "", expected = ""] = []] = results;
  for (const [engine, found] of results) {
    const index = TEXTS.findIndex((_text, at) => found[at] !== expected[at]);
    if (index < 0) continue;
    const message = `The pattern means one thing in ${first} and another in ${engine}, for ${JSON.stringify(TEXTS[index])}: write it otherwise.`;
    ctx.report({ message, location });
  }
}

function checkFormat(schema: DocumentNode, ctx: Context): void {
  const { format } = schema;
  const types = typesOf(schema);
  if (types.includes("number") && format !== "double") {
    ctx.report({ message: "Generators hold a number without `format: double` in 32 bits: add it." });
  }
  if (!types.includes("integer")) return;
  const range = typeof format === "string" ? INTEGERS[format] : undefined;
  if (range === undefined) {
    ctx.report({ message: "The integer has no format: add `int32` or `int64`." });
    return;
  }
  const [least, greatest] = range;
  for (const keyword of ["minimum", "maximum"]) {
    const bound = schema[keyword];
    if (typeof bound !== "number" || (bound >= least && bound <= greatest)) continue;
    const message = `The ${keyword} does not fit into ${String(format)}: use \`int64\`, or another bound.`;
    ctx.report({ message, location: ctx.location.child("format") });
  }
}

/** A generated type holds a time as an object of its language, whose length nobody can measure. */
function checkTime(schema: DocumentNode, ctx: Context): void {
  if (schema.format !== "date" && schema.format !== "date-time") return;
  for (const keyword of ["minLength", "maxLength"].filter((name) => name in schema)) {
    const message = `Generated clients throw at \`${keyword}\` of a time: remove it, because \`${schema.format}\` bounds it.`;
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  }
}

/** Some validators take every schema as closed that names properties, so that no object matches a condition about one of them. */
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
  const reasons = schema["x-portability"] ?? {};
  const at = (name: string) => ctx.location.child(["x-portability", name]).key();
  if (!isNode(reasons)) {
    ctx.report({
      message: "`x-portability` is an object of reasons.",
      location: ctx.location.child("x-portability"),
    });
    return;
  }
  for (const [keyword, remedy] of CONSTRUCTS) {
    if (!(keyword in schema) || keyword in reasons || isPortable(keyword, schema)) continue;
    const message = `Common generators drop \`${keyword}\` or stop at it: ${remedy}, or give the reason in \`x-portability\`.`;
    ctx.report({ message, location: ctx.location.child(keyword).key() });
  }
  for (const [keyword, reason] of Object.entries(reasons)) {
    if (!isReason(reason))
      ctx.report({ message: "`x-portability` has to give the reason in words.", location: at(keyword) });
    if (CONSTRUCTS.some(([name]) => name === keyword) && keyword in schema && !isPortable(keyword, schema))
      continue;
    ctx.report({
      message: `The schema has no \`${keyword}\` that needs a reason: remove it.`,
      location: at(keyword),
    });
  }
}

function isPortable(keyword: string, { discriminator, oneOf }: DocumentNode): boolean {
  if (keyword !== "oneOf") return false;
  const mapping = isNode(discriminator) ? discriminator.mapping : undefined;
  return isNode(mapping) && Array.isArray(oneOf) && Object.keys(mapping).length === oneOf.length;
}
