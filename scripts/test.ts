import { readFile, rm } from "node:fs/promises";
import { relative } from "node:path";
import { findUnproven } from "../test/lib/traceability/proof.ts";
import { defineCommand } from "./lib/command.ts";
import { ROOT } from "./lib/redocly.ts";
import { runStep, runTogether, type Step } from "./lib/steps.ts";
import { lintSteps } from "./lint.ts";

/* The tests run after the static checks, because they use both cores, and a static check names an error in less time. */
const REPORT = ".cache/vitest.json";
const TYPES_FOUND = ".cache/types.tsbuildinfo";

const staticSteps: readonly Step[] = [
  { name: "generated files are current", command: "node", args: ["scripts/generate.ts", "--check"] },
  { name: "contract changes fit the version", command: "node", args: ["scripts/diff.ts"] },
  // What the run before found of files that have not changed is not found again.
  { name: "types", command: "tsc", args: ["--noEmit", "--incremental", "--tsBuildInfoFile", TYPES_FOUND] },
  ...lintSteps,
];

const longSteps: readonly Step[] = [
  { name: "every mutant of the contract is killed", command: "node", args: ["scripts/mutate.ts"] },
  { name: "20,000 fuzzed calls", command: "node", args: ["scripts/fuzz.ts", "--runs", "20000"] },
  { name: "clients of other generators", command: "node", args: ["scripts/generators.ts"] },
  { name: "faults, five rounds", command: "node", args: ["scripts/faults.ts", "--rounds", "5"] },
  { name: "the client as packed, on each Node", command: "node", args: ["scripts/client-packed.ts"] },
  { name: "the packages as published, from empty folders", command: "node", args: ["scripts/packed.ts"] },
];

const { whole } = defineCommand(
  "test",
  "Runs everything that proves the project: static checks, then the tests.",
)
  .option("--whole", "then also the proofs that take minutes or install other packages, as CI does")
  .parse()
  .opts();

const checks = await runTogether(staticSteps);
await rm(REPORT, { force: true });
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
const tests = await runStep({ name: "tests", command: "vitest", args: ["run", ...reporters] }, true);
const counted = await countTests();
// A failed run has said more; marks of tests that it did not come to would only hide that.
const unproven = tests.passed ? await findUnproven(ROOT, REPORT) : [];

if (whole) {
  // One after the other, and each with what it prints: they take minutes.
  for (const step of longSteps) checks.push(await runStep(step, true));
}

const failedSteps = checks.filter(({ passed }) => !passed);
// A run can fail without a failing test: a file that does not load, or a set-up that breaks.
const broken = !tests.passed && counted.failed === 0 ? 1 : 0;
const passed = counted.passed + checks.length - failedSteps.length;
const failed = counted.failed + failedSteps.length + broken + unproven.length;
// Said again here: what failed stands far above, and a log of CI may be cut.
for (const line of counted.failures) process.stdout.write(`failed: ${line}\n`);
for (const line of unproven) process.stdout.write(`failed: ${line}\n`);
for (const { name } of failedSteps) process.stdout.write(`failed: ${name}\n`);
// For people: what the last line adds up. Programs read the last line alone.
process.stdout.write(
  `tests: ${counted.passed} passed, ${counted.failed} failed; checks: ${checks.length - failedSteps.length} passed, ${failedSteps.length} failed` +
    `${broken > 0 ? "; the test run broke off" : ""}${unproven.length > 0 ? `; clauses without a passing test: ${unproven.length}` : ""}\n`,
);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** The parts of Vitest's report that are read. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

async function countTests(): Promise<{ passed: number; failed: number; failures: string[] }> {
  try {
    const { numPassedTests, numFailedTests, testResults }: Report = JSON.parse(
      await readFile(REPORT, "utf8"),
    );
    const failures = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages }) =>
          [`${relative(ROOT, name)} > ${fullName}`, ...failureMessages].join("\n"),
        ),
    );
    return { passed: numPassedTests, failed: numFailedTests, failures };
  } catch {
    return { passed: 0, failed: 0, failures: [] };
  }
}
