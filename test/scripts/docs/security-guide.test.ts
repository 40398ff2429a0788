import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readTitles } from "../../../scripts/traceability/marks.ts";

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
    expect(readTitles(readFileSync(new URL(path, ROOT), "utf8"))).toContain(title);
  });
});
