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
  /** Path of the test's file from the top folder, and the line of the comment in it. */
  readonly file: string;
  readonly line: number;
  /** Titles of the marked `describe` or `test` and of all around it, the outermost first, as {@link titleOf} gives them. */
  readonly titles: readonly string[];
  /** Whether it is above a `describe`, and so applies to every test in it. */
  readonly group: boolean;
};

export type Marks = { readonly marks: readonly Mark[]; readonly errors: readonly string[] };

const FORMS: Record<Kind, RegExp> = { clause: /^\d+\.\d+$/, decision: /^D\d{2}[a-z]?$/ };
const TAG = /@(clause|decision)\b([^@*]*)/g;
const GROUPS = ["describe", "suite"];
const TESTS = ["test", "it"];

type Comment = { readonly at: number; readonly text: string };

/** Reads the marks of one test file; the path is used in messages. */
export function readMarks(file: string, text: string): Marks {
  if (!/@(clause|decision)\b/.test(text)) return { marks: [], errors: [] }; // skips most files, because parsing takes longer
  const source = ts.createSourceFile(join(ROOT, file), text, ts.ScriptTarget.Latest, true);
  const marks: Mark[] = [];
  const errors: string[] = [];
  const lineOf = (at: number) => source.getLineAndCharacterOfPosition(at).line + 1;

  const unclaimed = new Map<number, Comment>();
  collectComments(source, source, unclaimed);

  visitTests(source, [], (statement, around, group) => {
    for (const comment of commentsBefore(source, statement)) {
      if (!unclaimed.delete(comment.at)) continue;
      const line = lineOf(comment.at);
      const titles = around.map(titleOf).filter((title) => title !== undefined);
      if (titles.length < around.length)
        errors.push(
          `${file}:${line} marks a test whose title is computed: mark a describe around it that has a plain title.`,
        );
      for (const { kind, id } of idsIn(comment.text)) {
        if (FORMS[kind].test(id)) marks.push({ kind, id, file, line, titles, group });
        else errors.push(`${file}:${line} has a mark of "${id}", which is no ${kind}: write ids only.`);
      }
    }
  });
  for (const { at } of unclaimed.values()) {
    errors.push(`${file}:${lineOf(at)} has a mark above no test: put it directly above a test or describe.`);
  }
  return { marks, errors };
}

function idsIn(comment: string): { kind: Kind; id: string }[] {
  return Array.from(comment.matchAll(TAG)).flatMap(([, kind, rest = ""]) => {
    const ids = rest.split(/[\s,/]+/).filter((id) => id !== "");
    return (ids.length > 0 ? ids : ["nothing"]).map((id) => ({ kind: kind as Kind, id }));
  });
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
  visitTests(source, [], (_, around) =>
    titles.push(...around.slice(-1).flatMap((call) => titleOf(call) ?? [])),
  );
  return titles;
}

type Visit = (statement: ts.Node, around: readonly ts.CallExpression[], group: boolean) => void;

/** Visits each `describe` and `test`, with the calls of all around it, the outermost first, and its own. */
function visitTests(node: ts.Node, around: readonly ts.CallExpression[], visit: Visit): void {
  const call =
    ts.isExpressionStatement(node) && ts.isCallExpression(node.expression) ? node.expression : null;
  const name = call ? rootOf(call) : "";
  const group = GROUPS.includes(name);
  const inner = call && (group || TESTS.includes(name)) ? [...around, call] : around;
  if (inner !== around) visit(node, inner, group);
  ts.forEachChild(node, (child) => visitTests(child, inner, visit));
}

/** `test` of `test(…)`, `test.each(…)(…)` and similar calls. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node) ? rootOf(node.expression) : "";
}

/** Every comment with a mark, wherever it is; strings don't count. */
function collectComments(source: ts.SourceFile, node: ts.Node, found: Map<number, Comment>): void {
  for (const comment of commentsBefore(source, node)) found.set(comment.at, comment);
  for (const child of node.getChildren(source)) collectComments(source, child, found);
}

function commentsBefore({ text }: ts.SourceFile, node: ts.Node): Comment[] {
  const start = node.getFullStart();
  const ranges = [
    ...(ts.getTrailingCommentRanges(text, start) ?? []),
    ...(ts.getLeadingCommentRanges(text, start) ?? []),
  ];
  const comments = ranges.map(({ pos, end }) => ({ at: pos, text: text.slice(pos, end) }));
  return comments.filter((comment) => /@(clause|decision)\b/.test(comment.text));
}
