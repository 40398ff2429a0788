import { readFile, rm } from "node:fs/promises";
import { ROOT } from "./lib/redocly.ts";
import { runStep, runTogether, type Step } from "./lib/steps.ts";
import { findUnproven } from "./lib/traceability/proof.ts";
import { lintSteps } from "./lint.ts";

/*
 * Everything that proves the project. The static checks run first and together; the tests run after them, because they
 * use both cores, and because a fault that a static check names is found there in a tenth of the time. With `--whole`, as CI
 * runs it, come the proofs that take minutes, or packages that are not the project's own.
 */
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
];

const checks = await runTogether(staticSteps);
await rm(REPORT, { force: true });
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${REPORT}`];
const tests = await runStep({ name: "tests", command: "vitest", args: ["run", ...reporters] }, true);
const counted = await countTests();
// A failed run has said more; marks of tests that it did not come to would only hide that.
const unproven = tests.passed ? await findUnproven(ROOT, REPORT) : [];

if (process.argv.includes("--whole")) {
  // One after the other, and each with what it prints: they take minutes.
  for (const step of longSteps) checks.push(await runStep(step, true));
}

const failedSteps = checks.filter(({ passed }) => !passed);
// A run can fail without a failing test: a file that does not load, or a set-up that breaks.
const broken = !tests.passed && counted.failed === 0 ? 1 : 0;
const passed = counted.passed + checks.length - failedSteps.length;
const failed = counted.failed + failedSteps.length + broken + unproven.length;
for (const line of unproven) process.stdout.write(`failed: ${line}\n`);
for (const { name } of failedSteps) process.stdout.write(`failed: ${name}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function countTests(): Promise<{ passed: number; failed: number }> {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(REPORT, "utf8"));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 0 };
  }
}
