import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { lintFiles } from "../helpers/redocly-lint.ts";
import { forSuite } from "../helpers/suite.ts";
import { createTempDir } from "../helpers/temp-dir.ts";

/** A document, the files it refers to, and the errors that one rule finds, each as `file#pointer: message`. */
type Case = { title: string; document: string; files?: Record<string, string>; errors?: string[] };

const fixtures = fileURLToPath(new URL("../fixtures/rules/", import.meta.url));
const plugin = fileURLToPath(new URL("../../openapi/rules/plugin.ts", import.meta.url));
const header = "openapi: 3.1.1\ninfo: { title: Case, version: 1.0.0 }\n";

const rules = [
  ...["source", "amounts", "closed", "bounded", "events", "examples-used", "pattern-messages", "portable"],
];
const suites = await Promise.all(rules.map(async (rule) => ({ rule, cases: await readCases(rule) })));

describe("the rules of the contract", () => {
  const opened = forSuite(createTempDir);
  let found: Map<string, string[]>;

  beforeAll(async () => {
    const folder = opened.path;
    for (const name of ["clauses.md", "decisions.md"]) await cp(join(fixtures, name), join(folder, name));
    const roots = suites.flatMap(({ rule, cases }) => cases.map((_case, index) => `${rule}-${index}`));
    for (const { rule, cases } of suites) {
      for (const [index, one] of cases.entries()) await writeCase(join(folder, `${rule}-${index}`), one);
    }
    found = await lint(folder, roots);
  });

  for (const { rule, cases } of suites) {
    describe(rule, () => {
      test.each(cases.map((one, index) => ({ ...one, index })))("$title", ({ index, errors = [] }) => {
        expect(found.get(`${rule}-${index} contract/${rule}`) ?? []).toEqual(errors.toSorted());
      });
    });
  }
});

async function readCases(rule: string): Promise<Case[]> {
  // A fixture of another shape fails in the tests that are generated from it.
  return parse(await readFile(join(fixtures, `${rule}.yaml`), "utf8")) as Case[];
}

async function writeCase(folder: string, { document, files = {} }: Case): Promise<void> {
  for (const [name, text] of Object.entries({ ...files, "openapi.yaml": header + document })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Lints `<root>/openapi.yaml` of each root in one run; the result's keys are `<root> <rule id>`. */
async function lint(folder: string, roots: string[]): Promise<Map<string, string[]>> {
  const settings = Object.fromEntries(rules.map((rule) => [`contract/${rule}`, "error"]));
  const source = { severity: "error", interface: "clauses.md", decisions: "decisions.md" };
  const config = { extends: [], plugins: [plugin], rules: { ...settings, "contract/source": source } };
  await writeFile(join(folder, "redocly.yaml"), JSON.stringify(config));

  const documents = roots.map((root) => `${root}/openapi.yaml`);
  const reports = await lintFiles(documents, ["--max-problems=1000"], folder);

  const found = new Map<string, string[]>();
  for (const [index, report] of reports.entries()) {
    const root = roots[index] ?? "";
    for (const { ruleId, message, location } of report.problems) {
      const [
        {
          source: { ref },
          pointer,
        } = { source: { ref: "" }, pointer: "" },
      ] = location;
      const file = ref.slice(root.length + 1);
      const error = `${file === "openapi.yaml" ? "" : file}${pointer}: ${message}`;
      found.set(`${root} ${ruleId}`, [...(found.get(`${root} ${ruleId}`) ?? []), error]);
    }
  }
  // The order follows the linter's traversal of the document and does not depend on the rule.
  for (const errors of found.values()) errors.sort();
  return found;
}
