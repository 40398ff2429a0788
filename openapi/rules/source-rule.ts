import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { keywordsHolding } from "../document/known-keywords.ts";
import {
  type Context,
  type DocumentNode,
  isCondition,
  isNode,
  type Location,
  type Rule,
  toList,
  type Visit,
} from "./redocly-types.ts";

/**
 * Holds every element of the contract to a source that exists (D00): operations, parameters, request bodies, responses, headers,
 * properties, values of enumerations and transitions. And holds every clause of the interface to an answer: an element that names
 * it, or below its heading a comment with the decision that answers it, or with the reason why nothing has to. And every decision
 * has to be named by one of these.
 */
export function createSourceRule(folder: string): Rule<Options> {
  return ({
    interface: clauses = "docs/interface.md",
    decisions = "docs/decisions.md",
    answersInterface = false,
  }) => {
    const text = readFileSync(resolve(folder, clauses), "utf8");
    const decisionText = readFileSync(resolve(folder, decisions), "utf8");
    const decided: string[] = decisionText.match(/(?<=^### )D\d{2}[a-z]?(?= )/gm) ?? [];
    const twice = decided.filter((id, index) => decided.indexOf(id) < index);
    const ids: Ids = {
      specified: new Set(text.match(/(?<=^### )\d+\.\d+(?= )/gm)),
      decided: new Set(decided),
      open: openClauses(text),
      named: new Set(),
    };
    return {
      any: {
        enter(node, ctx) {
          if (isNode(node) && "x-source" in node)
            checkSources(node["x-source"], ctx.location.child("x-source"), ids, ctx);
        },
      },
      ref: {
        enter(node, ctx) {
          if (!("x-source" in node)) return;
          const message =
            "`x-source` beside a `$ref` is lost when the document is bundled: move it to the target.";
          ctx.report({ message, location: ctx.location.child("x-source").key() });
        },
      },
      Operation: needsSource("operation"),
      Parameter: needsSource("parameter"),
      RequestBody: needsSource("request body"),
      Response: needsSource("response"),
      Header: needsSource("header"),
      Schema(schema, ctx) {
        checkProperties(schema, ctx);
        checkValues(schema, ids, ctx);
        const wait = schema["x-waiting-period"];
        const atWait = ctx.location.child(["x-waiting-period", "source"]);
        if (isNode(wait)) checkSources(wait.source, atWait, ids, ctx);
        for (const [index, transition] of toList(schema["x-transitions"]).entries()) {
          const at = ctx.location.child(["x-transitions", index, "source"]);
          checkSources(isNode(transition) ? transition.source : undefined, at, ids, ctx);
        }
      },
      Root: {
        leave(_root, ctx) {
          for (const id of twice)
            ctx.report({ message: `Two decisions are ${id}: give the later one the next number.` });
          if (!answersInterface) return;
          for (const message of unanswered(text, clauses, ids)) ctx.report({ message });
          for (const message of unnamed(decisionText, text, ids)) ctx.report({ message });
        },
      },
    };
  };
}

/** The document that answers the interface has `answersInterface: true`: the sandbox's calls are beyond the interface. */
type Options = { interface?: string; decisions?: string; answersInterface?: boolean };

/** The ids of the headings that sources name, by the kind of source. */
type Ids = {
  readonly specified: ReadonlySet<string>;
  readonly decided: ReadonlySet<string>;
  /** The clauses that only say that something is not shown, and the decisions that fill each. */
  readonly open: ReadonlyMap<string, readonly string[]>;
  /** What the document names. */
  readonly named: Set<string>;
};

const FORM =
  '{ kind: specified, clause: "2.3" }, { kind: decided, decision: D13 } or { kind: decided, decision: D22, fills: "10.4" }';
const ADD = "add `x-source` with the clauses of the interface or the decisions that it comes from";

function needsSource(what: string): Visit {
  return (node, ctx) => {
    if (!("x-source" in node)) ctx.report({ message: `The ${what} has no source: ${ADD}.` });
  };
}

function checkSources(list: unknown, location: Location, ids: Ids, ctx: Context): void {
  if (!Array.isArray(list) || list.length === 0) {
    ctx.report({ message: `A source list holds at least one source: write ${FORM}.`, location });
    return;
  }
  for (const [index, source] of list.entries()) {
    const message = violationOf(source, ids);
    if (message !== undefined) ctx.report({ message, location: location.child(index) });
  }
}

function violationOf(source: unknown, ids: Ids): string | undefined {
  const { kind, clause, decision, fills, ...others } = isNode(source) ? source : {};
  const id = kind === "specified" ? clause : decision;
  const isOfForm = (clause === undefined) !== (decision === undefined) && Object.keys(others).length === 0;
  // An unquoted 12.10 is the number 12.1, which is another clause.
  if ((kind !== "specified" && kind !== "decided") || typeof id !== "string" || !isOfForm)
    return `${JSON.stringify(source)} is no source: write ${FORM}.`;
  ids.named.add(id);
  if (!ids[kind].has(id))
    return `There is no ${kind === "specified" ? "clause" : "decision"} ${id}: name one that there is.`;
  if (kind === "specified" && ids.open.has(id))
    return `The clause ${id} only says what is not shown: name the decision that \`fills\` it.`;
  const filled = [...ids.open].flatMap(([open, by]) => (kind === "decided" && by.includes(id) ? open : []));
  if (filled.length === 0 ? fills === undefined : fills === "none") return undefined;
  ids.named.add(String(fills));
  if (filled.includes(String(fills))) return undefined;
  return `${id} fills ${filled.join(" or ") || "no clause"}: ${filled.length > 0 ? "say which in `fills`, or none" : "remove `fills`"}.`;
}

/** The clauses whose text says "not shown", with the decisions in the comment below. */
function openClauses(text: string): Map<string, string[]> {
  const sections = [...text.matchAll(/^### (\d+\.\d+) (.*\n[^#]*)/gm)].filter(([section]) =>
    /not\s+shown/.test(section),
  );
  return new Map(
    sections.map(([section, id = ""]) => [
      id,
      /<!-- decided: (.+?) -->/.exec(section)?.[1]?.split(", ") ?? [],
    ]),
  );
}

/** A property that is a `$ref` has its source in the target. */
function checkProperties(schema: DocumentNode, ctx: Context): void {
  if (isCondition(ctx)) return;
  for (const keyword of keywordsHolding("properties")) {
    const properties = schema[keyword];
    for (const [name, property] of Object.entries(isNode(properties) ? properties : {})) {
      const { node } = ctx.resolve(property);
      if (isNode(node) && "x-source" in node) continue;
      const location = ctx.location.child([keyword, name]).key();
      ctx.report({ message: `Property \`${name}\` has no source: ${ADD}.`, location });
    }
  }
}

/** Each value of an enumeration has a list of sources in `x-enum-source`, and nothing else has. */
function checkValues(schema: DocumentNode, ids: Ids, ctx: Context): void {
  // A constant has the source of its property, and may have an `enum` for generators that read no `const`.
  const isConstant = "const" in schema && toList(schema.enum).length === 1;
  const values = keywordsHolding("values").flatMap((keyword) => toList(schema[keyword]).map(String));
  const table = isNode(schema["x-enum-source"]) ? schema["x-enum-source"] : undefined;
  if (table === undefined && (isConstant || isCondition(ctx))) return;
  for (const value of values.filter((name) => !Object.hasOwn(table ?? {}, name)))
    ctx.report({ message: `The value \`${value}\` has no source: add it to \`x-enum-source\`.` });
  for (const [value, sources] of Object.entries(table ?? {})) {
    const location = ctx.location.child(["x-enum-source", value]);
    if (values.includes(value)) checkSources(sources, location, ids, ctx);
    else
      ctx.report({
        message: `\`x-enum-source\` names \`${value}\`, which is no value: remove it.`,
        location,
      });
  }
}

function unanswered(text: string, file: string, { named, decided }: Ids): string[] {
  return text.split(/^### /m).flatMap((section) => {
    const [, clause, title] = /^(\d+\.\d+) (.*)/.exec(section) ?? [];
    if (clause === undefined || named.has(clause) || /<!-- no answer: \S/.test(section)) return [];
    const [, answers = ""] = /<!-- decided: (.+?) -->/.exec(section) ?? [];
    const unknown = answers.split(", ").filter((id) => id !== "" && !decided.has(id));
    if (answers !== "" && unknown.length === 0) return [];
    const problem =
      unknown.length > 0 ? `names ${unknown.join(", ")}, which does not exist` : "is answered by nothing";
    return `Clause ${clause} ${title} ${problem}: name it in an \`x-source\` of the contract, or write \`<!-- decided: Dnn -->\` below its heading in ${file}.`;
  });
}

/** The decisions that neither the contract nor a clause names, unless a comment says that they are about the whole contract. */
function unnamed(decisions: string, clauses: string, { named, decided }: Ids): string[] {
  const answers = (clauses.match(/(?<=<!-- decided: ).+?(?= -->)/g) ?? []).flatMap((list) =>
    list.split(", "),
  );
  const general = decisions.match(/(?<=^### )D\d{2}[a-z]?(?= .*\n<!-- general -->)/gm) ?? [];
  return [...decided]
    .filter((id) => ![...named, ...answers, ...general].includes(id))
    .map(
      (id) =>
        `Nothing names ${id}: name it in an \`x-source\`, or write \`<!-- general -->\` below its heading.`,
    );
}
