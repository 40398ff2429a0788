import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { Argument } from "@commander-js/extra-typings";
import { defineProof, wholeNumber } from "../../../scripts/shared/define-command.ts";

/** The benchmarks, each a file beside this one. */
const known = ["refunds", "http-layer", "deliveries", "overload", "start"] as const;

/* The command passes its arguments on to each benchmark, which reads them by this definition, too. */
const command = defineProof("bench")
  .option("--seconds <n>", "how long each load lasts", wholeNumber(1, 3_600), 3)
  .addArgument(new Argument("[name...]", "which benchmarks; all when left out").choices(known))
  .parse();

export const options: { readonly seconds: number } = command.opts();

/* Benchmarks are commands, never timed tests. Each has its own process, so that none warms up the code or fills the memory of another. */
if (import.meta.main) {
  const [names] = command.processedArgs;
  console.log(`${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}`);
  for (const name of names.length > 0 ? names : known) {
    const args = [`${import.meta.dirname}/${name}.ts`, ...process.argv.slice(2)];
    const [code] = await once(spawn(process.execPath, args, { stdio: "inherit" }), "close");
    if (code !== 0) process.exitCode = 1;
  }
}
