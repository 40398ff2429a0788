import { describe, expect, test } from "vitest";
import { findErrors } from "../../../scripts/traceability/check.ts";
import { readHeadings } from "../../../scripts/traceability/headings.ts";
import { readMarks } from "../../../scripts/traceability/marks.ts";
import { findUnproven } from "../../../scripts/traceability/proof.ts";

const CLAUSES = `# Interface

## 1 Service

### 1.1 Purpose
It refunds.
<!-- untestable: it tells what the service is for -->

### 1.2 Gap
How it is done is not shown.
<!-- decided: D01 -->

## 2 Refund

### 2.1 amount
A number.
`;
const DECISIONS = "## The document\n\n### D01 Amounts\nAt least one cent.\n";
const TESTS = `
/** @clause 2.1 */
test("takes an amount", () => {});
describe.each([1, 2])("with %d cents", () => {
  /** Twice, since it is rounded. @decision D01 */
  test.each<[number]>([[0.29], [1], [2]])("is exact: %s", () => {});
});
`;

/** A project of these texts, each of which a test may change. */
function trace({ clauses = CLAUSES, decisions = DECISIONS, tests = TESTS }) {
  const headings = [...readHeadings("clause", clauses), ...readHeadings("decision", decisions)];
  const { marks, errors } = readMarks("test/refunds.test.ts", tests);
  return { marks, errors: [...errors, ...findErrors({ headings, elements: [], marks })] };
}

describe("traceability", () => {
  test("finds no error where every clause and decision has a test or a reason", () => {
    expect(trace({}).errors).toEqual([]);
  });

  const tests = (text: string) => ({ tests: TESTS + text });
  test.each<[name: string, change: Parameters<typeof trace>[0], error: RegExp]>([
    [
      "a clause without a test",
      { tests: TESTS.replace("@clause 2.1", "") },
      /^Clause 2\.1 \(amount\) has no test: put \/\*\* @clause 2\.1 \*\/ above/,
    ],
    [
      "a decision without a test",
      { decisions: `${DECISIONS}### D02 Currency\nUSD.\n` },
      /^Decision D02 \(Currency\) has no test: put \/\*\* @decision D02/,
    ],
    [
      "a mark of an unknown clause",
      tests('/** @clause 2.7 */\ntest("x", () => {});'),
      /^test\/refunds\.test\.ts:8 marks clause 2\.7, which docs\/interface\.md does not have: the nearest is 2\.1\.$/,
    ],
    [
      "a mark above no test",
      tests("/** @clause 2.1 */\nconst x = 1;"),
      /^test\/refunds\.test\.ts:8 has a mark above no test: put it directly above a test or describe\.$/,
    ],
    [
      "a marked test without a title",
      tests("/** @clause 2.1 */\ntest(name, () => {});"),
      /^test\/refunds\.test\.ts:8 marks a test whose title is computed: mark a describe/,
    ],
    [
      "a test of what is said to have none",
      tests('/** @clause 1.1 */\ntest("x", () => {});'),
      /^Clause 1\.1 \(Purpose\) has a test in test\/refunds\.test\.ts: remove its "untestable" comment from docs\/interface\.md\.$/,
    ],
  ])("names %s", (_name, change, error) => {
    expect(trace(change).errors).toContainEqual(expect.stringMatching(error));
  });
});

describe("a mark stands for a test that ran and passed", () => {
  const { marks } = trace({});
  const run = (state: string, second = "is exact: 0.29") => [
    { file: "test/refunds.test.ts", name: "takes an amount", state },
    { file: "test/refunds.test.ts", name: `with 1 cents > ${second}`, state: "passed" },
  ];
  const WHOLE = { whole: true };

  test("and then is proven", () => {
    expect(findUnproven(run("passed"), marks, WHOLE)).toEqual([]);
  });

  test("or is named when it did not pass", () => {
    expect(findUnproven(run("skipped"), marks, WHOLE)).toEqual([
      "clause 2.1 is marked at test/refunds.test.ts:2, but no such test passed: takes an amount",
    ]);
  });

  test("or is named when another one ran in its place, or none", () => {
    expect(findUnproven(run("passed", "is about right: 0.29"), marks, WHOLE)).toEqual([
      "decision D01 is marked at test/refunds.test.ts:5, but no such test passed: with … cents > is exact: …",
    ]);
    expect(
      findUnproven(run("passed", "is exact: 0.29 > in a group of that name"), marks, WHOLE),
    ).toHaveLength(1);
    expect(findUnproven([], marks, WHOLE)).toHaveLength(2);
    expect(findUnproven([], marks, { whole: false })).toEqual([]);
  });

  test("and a mark above a describe stands for any test in it", () => {
    const above = TESTS.replace("describe.each", "/** @clause 2.1 */\ndescribe.each");
    const group = trace({ tests: above }).marks.filter((mark) => mark.group);

    expect(group).toHaveLength(1);
    expect(findUnproven(run("passed"), group, WHOLE)).toEqual([]);
    expect(findUnproven(run("passed").slice(0, 1), group, WHOLE)).toHaveLength(1);
  });
});
