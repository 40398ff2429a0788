import { readContract } from "../../../openapi/document/contract.ts";
import { collect, defineProof, wholeNumber } from "../../../scripts/command/command.ts";
import { createProgress, type ProgressStream } from "../../../scripts/command/progress.ts";
import { rows } from "../../conformance/rows/calls.ts";
import { deriveRows } from "../../openapi/rows.ts";
import { openHarness } from "./harness.ts";
import { deriveMessages } from "./messages.ts";
import type { Mutant } from "./mutant.ts";
import { type MutationReport, runMutants } from "./run-mutants.ts";

function readOptions(args: readonly string[]) {
  return defineProof("mutation")
    .option("--sample <n>", "make every n-th mutant of each kind", wholeNumber(1, 999_999_999), 1)
    .option("--only <text>", "make the mutants whose name holds the text; repeatable", collect, [])
    .parse(args, { from: "user" })
    .opts();
}

type Options = ReturnType<typeof readOptions>;

/**
 * Creates every mutant of the contract and reports those that the kit and the lint rules do not detect. Resolves with the exit code, and rejects
 * options that select nothing.
 */
export async function mutate(args: readonly string[], output: ProgressStream): Promise<0 | 1> {
  const options = readOptions(args);
  const { document } = readContract("openapi");
  const whole = options.sample === 1 && options.only.length === 0;
  await using harness = await openHarness();
  const progress = createProgress(output);
  const report = await runMutants({
    document,
    harness,
    suite: { derived: deriveRows(document), rows, messages: deriveMessages(document) },
    ...(!whole && { choose: (mutants) => chosen(mutants, options) }),
    onProgress: (done, mutants, survivors) =>
      progress.show(`${done} of ${mutants} mutants, ${survivors} not noticed so far`),
  });
  progress.clear();
  output.write(render(report));
  return report.survivors.length === 0 && report.errors.length === 0 ? 0 : 1;
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

function chosen(mutants: readonly Mutant[], { sample: step, only }: Options): Mutant[] {
  const named = [...new Set(only.flatMap((text) => withName(mutants, text)))];
  return sample(only.length > 0 ? named : mutants, step);
}

function withName(mutants: readonly Mutant[], text: string): Mutant[] {
  const some = mutants.filter(({ name }) => name.includes(text));
  if (some.length === 0) throw new Error(`no mutant has a name with ${text}`);
  return some;
}

/** Every `step`-th mutant of each kind, and of every kind at least one. */
function sample(mutants: readonly Mutant[], step: number): Mutant[] {
  const kinds = Map.groupBy(mutants, ({ kind }) => kind);
  const chosen = new Set(
    [...kinds.values()].flatMap((list) => list.filter((_mutant, index) => index % step === 0)),
  );
  return mutants.filter((mutant) => chosen.has(mutant));
}
