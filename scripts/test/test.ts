/** `npm test`: the static checks beside the tests; with --whole also the long tests and proofs. */
import { defineCommand } from "../shared/define-command.ts";
import { PROOFS } from "../shared/proofs.ts";
import { runStep, runTogether, type Step, type StepResult } from "../shared/run-steps.ts";
import { lintSteps } from "./lint.ts";
import { runTests } from "./run-vitest.ts";

/** The projects of tests that only `--whole` runs: see CONTRIBUTING. */
const LONG_PROJECTS = ["browser", "guides", "kit-tests", "processes", "packages", "trials"];
/** TypeScript 7 takes a third of the time. Packages are built by TypeScript 5, whose interface other tools need. */
const TYPESCRIPT = "node_modules/typescript-7/bin/tsc";
const TYPES_FOUND = ".cache/types.tsbuildinfo";

const staticSteps: readonly Step[] = [
  { name: "generated files are current", command: "node", args: ["scripts/generate/generate.ts", "--check"] },
  { name: "contract changes fit the version", command: "node", args: ["scripts/diff/diff.ts"] },
  // Reuses what the previous run found out about unchanged files.
  {
    name: "types",
    command: "node",
    args: [TYPESCRIPT, "--noEmit", "--incremental", "--tsBuildInfoFile", TYPES_FOUND],
  },
  ...lintSteps,
];

/** The proofs, in groups that run together: beside another proof, the samples' receivers would exceed the time limits of the exam. */
const longSteps: readonly (readonly Step[])[] = [
  [proof("clients of other generators", "generators")],
  [
    proof("the packages, installed into empty folders", "packed"),
    proof("faults, one round", "faults", "--rounds", "1"),
  ],
  [proof("a cluster of PostgreSQL", "citus")],
];

function proof(name: string, key: keyof typeof PROOFS, ...args: string[]): Step {
  return { name, command: "node", args: [PROOFS[key].file, ...args] };
}

const { whole, rerun } = defineCommand(
  "test",
  "Runs the static checks and the tests that a change needs before a commit.",
)
  .option(
    "--whole",
    `also the projects ${LONG_PROJECTS.join(", ")}, then the proofs that take minutes, as CI does`,
  )
  .option("--rerun", "run what failed once more, alone, and name what passed only then, as CI does")
  .parse()
  .opts();

// The trial of random commands on the model of refunds.
if (whole) process.env.MODEL_COMMANDS ??= "2000";
// The tests leave a quarter of both cores idle. Each check prints its result when it ends.
const [checks, tests] = await Promise.all([
  runTogether(staticSteps),
  runTests(whole ? [] : LONG_PROJECTS.map((name) => `!${name}`), { rerun: rerun === true }),
]);

if (whole) for (const steps of longSteps) checks.push(...(await Promise.all(steps.map(runLong))));

async function runLong(step: Step): Promise<StepResult> {
  const first = await runStep(step);
  process.stdout.write(first.output);
  if (first.outcome !== "failed" || !rerun) return first;
  const last = await runStep(step);
  process.stdout.write(`run again: ${step.name}\n${last.output}`);
  if (last.outcome === "passed") tests.flaky.push(step.name);
  return last;
}

const {
  passed: passedSteps = [],
  failed: failedSteps = [],
  "not run": notRun = [],
} = Object.groupBy(checks, ({ outcome }) => outcome);
const passed = tests.passed + passedSteps.length;
const failed = tests.failures.length + failedSteps.length;
// Repeated here, because the failures are far above, and a CI log may be truncated.
for (const line of tests.flaky) process.stdout.write(`passed only when run again: ${line}\n`);
for (const line of tests.failures) process.stdout.write(`failed: ${line}\n`);
for (const { name } of failedSteps) process.stdout.write(`failed: ${name}\n`);
for (const { name, output } of notRun) process.stdout.write(`not run: ${name}: ${output.trim()}\n`);
// The parts of the sum in the last line, for people. Programs read only the last line.
process.stdout.write(
  `tests: ${tests.passed} passed, ${tests.failures.length} failed; checks: ${passedSteps.length} passed, ${failedSteps.length} failed` +
    `${tests.flaky.length > 0 ? `; passed only when run again: ${tests.flaky.length}` : ""}\n`,
);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
