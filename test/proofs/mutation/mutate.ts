import { spawn } from "node:child_process";
import { once } from "node:events";
import { readContract } from "../../../openapi/document/contract.ts";
import { collect, defineProof } from "../../../scripts/command/command.ts";
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
  const { only } = defineProof("mutation")
    .option("--only <text>", "make the mutants whose name holds the text; repeatable", collect, [])
    .parse()
    .opts();
  const report = await runMutants(readContract("openapi").document, only);
  process.stdout.write(render(report));
  process.exitCode = report.survivors.length === 0 && report.errors.length === 0 ? 0 : 1;
}

function render({ mutants, killed, equivalents, survivors, errors }: MutationReport): string {
  const lines = [
    `mutants made: ${mutants}`,
    ...Object.entries(killed).map(([by, count]) => `killed by ${by}: ${count}`),
    `equivalent, each listed with its reason: ${equivalents}`,
    `survivors: ${survivors.length}`,
    ...survivors.map((name) => `  survived: ${name}`),
    ...errors.map((error) => `  wrong: ${error}`),
  ];
  return `${lines.join("\n")}\n`;
}
