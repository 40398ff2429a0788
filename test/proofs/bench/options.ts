import { Argument } from "@commander-js/extra-typings";
import { defineProof, wholeNumber } from "../../../scripts/command/command.ts";

/** The benchmarks, each a file beside this one. */
export const known = ["refunds", "http-layer", "deliveries", "overload", "start"] as const;

/* The command passes its arguments on to each benchmark, which reads them by this definition, too. */
const command = defineProof("bench")
  .option("--seconds <n>", "how long each load lasts", wholeNumber(1, 3_600), 3)
  .option(
    "--release <folder>",
    "another release, with its packages installed, with whose server refunds are compared",
  )
  .addArgument(new Argument("[name...]", "which benchmarks; all when left out").choices(known))
  .parse();

export const options: { readonly seconds: number; readonly release?: string } = command.opts();
export const names: readonly string[] = command.args;
