import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { lintFiles } from "../helpers/redocly-lint.ts";
import { forSuite } from "../helpers/suite.ts";
import { createTempDir } from "../helpers/temp-dir.ts";

/** A document, the interface that it answers, and every error that our rules find. */
type Case = { title: string; document: string; interface?: string; decisions?: string; errors: string[] };

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
// A fixture of another shape fails in the tests that are made of it.
const cases = parse(readFileSync(pathOf("../fixtures/lint-rules.yaml"), "utf8")) as Case[];
const HEADER = "openapi: 3.1.1\ninfo: { title: Case, version: 1.0.0 }\n";
const CLAUSES = "### 1.1 The only clause\n<!-- decided: D01 -->\n";
const DECISIONS = "### D01 The only decision\n";

describe("the lint of a document with mistakes", () => {
  const folder = forSuite(createTempDir);
  let found: string[][];

  beforeAll(async () => {
    const write = (name: string, text: string) => writeFile(join(folder.path, name), text);
    for (const [
      index,
      { document, interface: clauses = CLAUSES, decisions = DECISIONS },
    ] of cases.entries()) {
      await write(`${index}.yaml`, HEADER + document);
      await write(`${index}.md`, clauses);
      await write(`${index}-decisions.md`, decisions);
    }
    const apis = cases.map((_case, index) => {
      const source = { severity: "error", interface: `${index}.md`, decisions: `${index}-decisions.md` };
      const rules = {
        "contract/source": { ...source, answersInterface: true },
        "contract/amounts": "error",
        "contract/portable": "error",
        "contract/retry": "error",
      };
      return [String(index), { root: `${index}.yaml`, rules }];
    });
    const plugins = [pathOf("../../openapi/rules/plugin.ts")];
    await write("redocly.yaml", JSON.stringify({ extends: [], plugins, apis: Object.fromEntries(apis) }));
    const reports = await lintFiles([], ["--max-problems=1000"], folder.path);
    found = reports.map(({ problems }) =>
      problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`).sort(),
    );
  });

  test.each(cases.map((lintCase, index) => ({ ...lintCase, index })))("$title", ({ index, errors }) => {
    expect(found[index]).toEqual(errors.toSorted());
  });
});
