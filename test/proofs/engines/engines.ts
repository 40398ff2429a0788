import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber } from "../../../scripts/command/command.ts";
import { NOT_RUN } from "../../../scripts/command/steps.ts";
import { findCitus } from "../../helpers/cluster.ts";
import { listTests, runProofTests } from "../run-tests.ts";

const proofs = await listTests("engines");
const command = defineProof("engines")
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(new Argument("[name...]", "which parts to run; all when left out").choices(proofs))
  .parse();
if (findCitus()) {
  await runProofTests("engines", command.args.length > 0 ? command.args : proofs, command.opts());
} else {
  console.log("Citus is missing");
  process.exitCode = NOT_RUN;
}
