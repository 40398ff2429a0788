import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readContract } from "../../../openapi/document/contract.ts";
import { isNode, walk } from "../../../openapi/document/node.ts";
import type { Word } from "../../../scripts/generate/included.ts";

type Rules = { rules: { terminology: { terms: [pattern: string, instead: string][] } } };

const { rules }: Rules = JSON.parse(readFileSync(".textlintrc.json", "utf8"));
const slips = rules.terminology.terms.map(([pattern]) => new RegExp(`\\b(?:${pattern})\\b`, "i"));

/** The prose linter reads Markdown only, but the contract's descriptions have more readers. */
test.each(["openapi", "sandbox"] as const)(
  "the descriptions of the contract %s keep to the words of the docs",
  (name) => {
    const texts = Array.from(walk(readContract(name).document, ["value", "x-source"])).flatMap(({ part }) =>
      isNode(part) ? [part.description, part.summary, part["x-pattern-message"]] : [],
    );
    const prose = texts.filter((text) => typeof text === "string");

    const wrong = prose.flatMap((text) =>
      slips.flatMap((slip) => slip.exec(text)?.[0] ?? []).map((slip) => `${slip}: ${text}`),
    );

    expect(wrong).toEqual([]);
    expect(prose.length).toBeGreaterThan(100);
  },
);

describe('the table "Words"', () => {
  const words: readonly Word[] = parse(readFileSync("docs/words.yaml", "utf8"));
  // The interface repeats the wording of the requirement; released changes stay as they were written.
  const paths = globSync(
    ["{server,client,scripts,test,docs,openapi}/**/*.{ts,tsx,mjs,md,hbs}", "openapi/**/*.yaml", "*.md"],
    {
      exclude: [
        "**/{dist,node_modules,clients,generated,released}/**",
        ...["docs/interface.md", "CHANGELOG.md", "CONTRIBUTING.md"],
      ],
    },
  );
  const lines = paths.flatMap((path) =>
    [path, ...readFileSync(path, "utf8").split("\n")].map((text, line) => ({ at: `${path}:${line}`, text })),
  );

  test("has no row that nothing checks", () => {
    expect(words.filter(({ match, names }) => !match && !names)).toEqual([]);
  });

  test.each(words.filter(({ match }) => match))('says "$say", not "$not"', ({ match }) => {
    const pattern = new RegExp(`\\b(?:${match})\\b`);

    expect(lines.filter(({ text }) => pattern.test(toWords(text)))).toEqual([]);
    expect(paths.length).toBeGreaterThan(500);
  });

  test.each(words.filter(({ names }) => names))('names nothing "$names": it is "$say"', ({ names }) => {
    const declared = new RegExp(`\\b(?:const|let|function|readonly|type) (?:${names})\\b`, "i");

    expect(lines.filter(({ at, text }) => !at.includes(".md:") && declared.test(text))).toEqual([]);
  });
});

/** `leaseOf` and `LEASE_OF` are "lease of". */
function toWords(line: string): string {
  return line
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase();
}
