/** `npm run proof -- citus`: the tests in this folder, on Citus clusters. */
import { Argument } from "@commander-js/extra-typings";
import { defineProof, seedNumber } from "../../../scripts/shared/define-command.ts";
import { NOT_RUN } from "../../../scripts/shared/run-steps.ts";
import { findCitus } from "../../helpers/cluster.ts";
import { listTests, runProofTests } from "../run-proof-tests.ts";

const proofs = await listTests("citus");
const command = defineProof("citus")
  .option("--seed <n>", "makes the same random choices again", seedNumber, 1)
  .addArgument(new Argument("[name...]", "which parts to run; all when left out").choices(proofs))
  .parse();
if (findCitus()) {
  await runProofTests("citus", command.args.length > 0 ? command.args : proofs, command.opts());
} else {
  console.log("Citus is missing");
  process.exitCode = NOT_RUN;
}
