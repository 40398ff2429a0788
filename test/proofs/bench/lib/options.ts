import { readdir } from "node:fs/promises";
import { parse } from "node:path";
import { Argument } from "@commander-js/extra-typings";
import { defineProof, wholeNumber } from "../../../../scripts/command/command.ts";

export const FOLDER = "test/proofs/bench";
const COMMAND = "bench.ts";

const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".ts") && file !== COMMAND);
/** The benchmarks that readers ask about first; all others come after these. */
const FIRST = ["refunds-postgres", "latency", "refunds-embedded", "http-layer", "deliveries"];
const rank = (name: string) => [...FIRST, name].indexOf(name);
/** The names of all benchmarks. */
export const known: string[] = files
  .map((file) => parse(file).name)
  .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

type Options = {
  readonly save?: true;
  readonly seconds?: number;
  readonly steps: number;
  readonly events: number;
  readonly refunds: number;
  readonly release?: string;
};

/* The command passes its arguments on to each benchmark, which reads them by this definition, too. */
const command = defineProof("bench")
  .option("--save", "write the results to docs/performance.md")
  .option(
    "--seconds <n>",
    "how long each load lasts; 3 when left out, and 40 in isolation",
    wholeNumber(1, 3_600),
  )
  .option("--steps <n>", "how many wrong bodies bad-calls tries", wholeNumber(1, 100_000), 150)
  .option("--events <n>", "how many events deliveries creates in a round", wholeNumber(1, 100_000), 500)
  .option("--refunds <n>", "after how many refunds memory is measured", wholeNumber(1, 10_000_000), 100_000)
  .option(
    "--release <folder>",
    "another release, with its packages installed, which latency measures in turns with this one",
  )
  .addArgument(new Argument("[name...]", "which benchmarks; all when left out").choices(known))
  .parse();

export const options: Options = command.opts();
/** The benchmarks that were named. */
export const named: readonly string[] = command.args;
