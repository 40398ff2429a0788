/** `npm run proof -- faults`: the tests in this folder, each in random rounds. */
import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber, wholeNumber } from "../../../scripts/shared/define-command.ts";
import { listTests, runProofTests } from "../run-proof-tests.ts";

const command = defineProof("faults")
  .option(
    "--rounds <n>",
    "how often a process is killed; other faults in proportion",
    wholeNumber(1, 99_999),
    50,
  )
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(
    new Argument("[name...]", "which files of test/proofs/faults to run; all when left out").choices(
      await listTests("faults"),
    ),
  )
  .parse();
await runProofTests("faults", command.args, command.opts());
