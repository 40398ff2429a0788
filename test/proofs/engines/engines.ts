import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber } from "../../../scripts/command/command.ts";
import { runTests } from "../../../scripts/test/run-tests.ts";
import { findCitus } from "../../helpers/citus.ts";
import { listTests, runProofTests } from "../support/run-tests.ts";

/** The tests of the project itself, on distributed tables. */
const OWN_TESTS = "suites";

const proofs = await listTests("engines");
const command = defineProof("engines")
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(
    new Argument("[name...]", "which parts to run; all when left out").choices([OWN_TESTS, ...proofs]),
  )
  .parse();
if (findCitus()) await main(command.opts().seed, command.args);
else console.log("engines: not run, because there is no PostgreSQL with Citus here");

async function main(seed: number, names: readonly string[]): Promise<void> {
  const chosen = names.length === 0 ? [OWN_TESTS, ...proofs] : names;
  if (chosen.includes(OWN_TESTS)) await runOwnTests();
  const tests = chosen.filter((name) => name !== OWN_TESTS);
  if (tests.length > 0) await runProofTests("engines", tests, { seed });
}

async function runOwnTests(): Promise<void> {
  process.env.ENGINE = "citus";
  const { passed, failures } = await runTests(["storage", "server"]);
  delete process.env.ENGINE;
  console.log(`tests on distributed tables: ${passed} passed, ${failures.length} failed`);
  if (failures.length > 0) process.exitCode = 1;
}
