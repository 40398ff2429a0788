/** `npm run proof -- mutation`: changes the contract, or with --code the code, in many small ways. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { defineProof } from "../../../scripts/shared/define-command.ts";
import { EQUIVALENTS } from "./equivalents.ts";
import type { Choice, MutationReport } from "./run-mutants.ts";

/**
 * Changes the contract in every small way that matters, and fails when the tests would miss one of the changes. With `--code` first,
 * Stryker changes the code instead; its own options may follow, such as `--mutate "server/domain/**"`.
 */
const [first, ...rest] = process.argv.slice(2);
if (first === "--code") {
  const args = ["stryker", "run", "test/proofs/mutation/stryker.json", ...rest];
  [process.exitCode] = await once(spawn("npx", args, { stdio: "inherit" }), "close");
} else {
  const { only } = defineProof("mutation")
    .option("--only <texts...>", "make only the mutants whose names hold one of these texts", [])
    .parse()
    .opts();
  printReports(await Promise.all([0, 1].map((half) => runHalf({ only, half }))), only.length === 0);
}

/** Makes every second mutant in a thread of its own. */
async function runHalf(choice: Choice): Promise<MutationReport> {
  const file = join(import.meta.dirname, "run-mutants.ts");
  const [report] = await once(new Worker(file, { workerData: choice }), "message");
  return report;
}

function printReports(reports: readonly MutationReport[], isWhole: boolean): void {
  const survivors = reports.flatMap((report) => report.survivors);
  const reasons = new Set(reports.flatMap((report) => report.reasons));
  const idle = EQUIVALENTS.filter(({ reason }) => isWhole && !reasons.has(reason));
  const errors = [
    ...reports.flatMap((report) => report.errors),
    ...idle.map(({ reason }) => `listed as equivalent, and does not occur: ${reason}`),
  ];
  const sum = (count: (report: MutationReport) => number) =>
    reports.reduce((sum, report) => sum + count(report), 0);
  const parts = new Set(reports.flatMap(({ killed }) => Object.keys(killed)));
  const lines = [
    `mutants made: ${sum(({ mutants }) => mutants)}`,
    ...[...parts].map((by) => `killed by ${by}: ${sum(({ killed }) => killed[by] ?? 0)}`),
    `equivalent, each listed with its reason: ${sum(({ equivalents }) => equivalents)}`,
    `survivors: ${survivors.length}`,
    ...survivors.map((name) => `  survived: ${name}`),
    ...errors.map((error) => `  wrong: ${error}`),
  ];
  console.log(lines.join("\n"));
  if (survivors.length > 0 || errors.length > 0) process.exitCode = 1;
}
