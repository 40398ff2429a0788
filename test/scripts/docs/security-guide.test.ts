import { readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const ROOT = new URL("../../../", import.meta.url);
const guide = readFileSync(new URL("docs/guides/security.md", ROOT), "utf8");
/** The proofs that the guide names: each on a line of a list, or in the last column of a table. */
const NAMED_TEST = /^(?:- |\|.*\| )`(test\/[^`]+)`: (.+?)(?: \|)?$/gm;
const named = Array.from(guide.matchAll(NAMED_TEST), ([, path = "", title = ""]) => ({ path, title }));

describe("the guide to security", () => {
  test("has each of the ten risks, and tests for each", () => {
    const risks = guide.split(/^## /m)[1]?.split(/^### /m).slice(1) ?? [];

    expect(risks.map((risk) => /^API\d+/.exec(risk)?.[0])).toEqual(
      Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
    );
    for (const risk of risks) {
      expect(risk).toMatch(/^- `test\//m);
      expect(risk).not.toMatch(/^- (?!`test\/)/m);
    }
    expect(named.length).toBe(guide.match(/^- `test\/|^\|.* `test\//gm)?.length);
  });

  test.each(named)("names a test that is there ($path: $title)", ({ path, title }) => {
    expect(titlesOf(readFileSync(new URL(path, ROOT), "utf8"))).toContain(title);
  });
});

/** Titles of tests and groups as written, with `…` for the values from a table. */
function titlesOf(source: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const isTitled = ts.isCallExpression(node) && ["describe", "test"].includes(rootOf(node));
    const [title] = isTitled ? node.arguments : [];
    if (title && ts.isStringLiteralLike(title))
      titles.push(title.text.replaceAll(/%[sdifjoOc]|\$[a-z][\w.]*/g, "…"));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("test.ts", source, ts.ScriptTarget.Latest));
  return titles;
}

/** The first name of a call: `test` of `test.each(rows)(…)`. */
function rootOf(node: ts.Node): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return rootOf(node.expression);
  return "";
}
