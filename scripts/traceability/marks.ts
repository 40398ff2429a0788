import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../command/root.ts";

export const KINDS = ["clause", "decision"] as const;

/** The kinds of marks: a clause of the interface, or a decision. */
export type Kind = (typeof KINDS)[number];

/** A mark that says what a test enforces: `@clause 7.5 11.3 @decision D09` in a comment directly above it. */
export type Mark = {
  readonly kind: Kind;
  readonly id: string;
  /** Path of the test's file from the top folder, and the line of the mark in it. */
  readonly file: string;
  readonly line: number;
  /** Titles of the marked `describe` or `test` and of all around it, the outermost first, as {@link titleOf} gives them. */
  readonly titles: readonly string[];
  /** Whether it is above a `describe`, and so applies to every test in it. */
  readonly group: boolean;
};

export type Marks = { readonly marks: readonly Mark[]; readonly errors: readonly string[] };

/** Reads the marks of one test file; the path is used in messages. */
export function readMarks(file: string, text: string): Marks {
  if (!/@(clause|decision)\b/.test(text)) return { marks: [], errors: [] }; // skips most files, because parsing takes longer
  const source = ts.createSourceFile(join(ROOT, file), text, ts.ScriptTarget.Latest, true);
  const marks: Mark[] = [];
  const errors: string[] = [];

  visitNodes(source, [], (node, calls, test) => {
    for (const tag of ts.getJSDocTags(node)) {
      const kind = KINDS.find((one) => one === tag.tagName.text);
      if (kind === undefined || tag.parent.parent !== node) continue;
      const line = source.getLineAndCharacterOfPosition(tag.getStart()).line + 1;
      const titles = calls.map(titleOf).filter((title) => title !== undefined);
      if (!test)
        errors.push(`${file}:${line} has a mark above no test: put it directly above a test or describe.`);
      else if (titles.length < calls.length)
        errors.push(
          `${file}:${line} marks a test whose title is computed: mark a describe around it that has a plain title.`,
        );
      const ids = (ts.getTextOfJSDocComment(tag.comment) ?? "").split(/[\s,/]+/);
      for (const id of ids) marks.push({ kind, id, file, line, titles, group: test === "describe" });
    }
  });
  return { marks, errors };
}

/** The title of a test as it is written, with `…` for each value of a table; undefined when it is computed. */
function titleOf({ arguments: [title] }: ts.CallExpression): string | undefined {
  if (!title || !ts.isStringLiteralLike(title)) return undefined;
  return title.text.replaceAll(/%[sdifjoOc#]|\$[a-zA-Z][\w.]*/g, "…");
}

/** The titles of all groups and tests of a file. */
export function readTitles(text: string): string[] {
  const titles: string[] = [];
  const source = ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest, true);
  visitNodes(source, [], (_, calls, test) => {
    if (test) titles.push(...calls.slice(-1).flatMap((call) => titleOf(call) ?? []));
  });
  return titles;
}

type Visit = (node: ts.Node, calls: readonly ts.CallExpression[], test: string | undefined) => void;

/** Visits each node with the calls of `describe` and `test` around it, the outermost first, its own included, and its name if it is one. */
function visitNodes(node: ts.Node, around: readonly ts.CallExpression[], visit: Visit): void {
  const call =
    ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) ? node.expression : undefined;
  const test = ["describe", "test"].find((name) => call && name === rootOf(call));
  const calls = call && test ? [...around, call] : around;
  visit(node, calls, test);
  ts.forEachChild(node, (child) => visitNodes(child, calls, visit));
}

/** `test` of `test(…)`, `test.each(…)(…)` and similar calls. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) ? rootOf(node.expression) : "";
}
