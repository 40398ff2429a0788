import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { readContract } from "../../../openapi/document/contract.ts";
import { collect, defineProof, wholeNumber } from "../../../scripts/command/command.ts";
import { EQUIVALENTS } from "./equivalents.ts";
import { type MutationReport, runMutants } from "./run-mutants.ts";

/**
 * Changes the contract in every small way that matters, and fails when the tests would miss one of the changes. With `--code` first,
 * Stryker changes the code instead; its own options may follow, such as `--mutate "server/domain/**"`.
 */
const [first, ...rest] = process.argv.slice(2);
if (first === "--code") {
  const args = ["stryker", "run", "test/proofs/mutation/stryker.json", ...rest];
  [process.exitCode] = await once(spawn("npx", args, { stdio: "inherit" }), "close");
} else {
  const { only, half } = defineProof("mutation")
    .option("--only <text>", "make the mutants whose name holds the text; repeatable", collect, [])
    .option("--half <n>", "make every second mutant, from the first or the second on", wholeNumber(0, 1))
    .parse()
    .opts();
  if (half === undefined) await runHalves(only.length === 0);
  else console.log(JSON.stringify(await runMutants(readContract("openapi").document, { only, half })));
}

/** Runs both halves at the same time, each in a process of its own, and prints what both found. */
async function runHalves(isWhole: boolean): Promise<void> {
  const halves = [0, 1].map(async (half): Promise<MutationReport> => {
    const command = [import.meta.filename, ...process.argv.slice(2), "--half", `${half}`];
    const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
    return JSON.parse(await text(child.stdout));
  });
  const reports = await Promise.all(halves);
  const survivors = reports.flatMap((report) => report.survivors);
  const reasons = new Set(reports.flatMap((report) => report.reasons));
  const idle = EQUIVALENTS.filter(({ reason }) => isWhole && !reasons.has(reason));
  const errors = [
    ...reports.flatMap((report) => report.errors),
    ...idle.map(({ reason }) => `listed as equivalent, and does not occur: ${reason}`),
  ];
  const sum = (count: (report: MutationReport) => number) =>
    reports.reduce((all, one) => all + count(one), 0);
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
