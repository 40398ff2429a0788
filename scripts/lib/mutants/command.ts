import { readCommandLine } from "../command-line.ts";
import { readContract } from "../contract.ts";
import { withTempDir } from "../files.ts";
import { messageTables } from "../table/check.ts";
import { requestTable } from "../table/table.ts";
import { sample } from "./choose.ts";
import { openLab } from "./lab.ts";
import type { Mutant } from "./mutant.ts";
import type { Suite } from "./notice.ts";
import { renderReport } from "./report.ts";
import { tryRequests } from "./requests.ts";
import { type MutationReport, runMutants } from "./run.ts";

const USAGE = `npm run mutate -- [--sample 1] [--only TEXT]… [--without TEXT]…

  --sample   makes every N-th mutant of each kind
  --only     makes those whose name holds the text
  --without  leaves out of the tables the rows whose name holds the text, to see what they are needed for

With any of them, only mutants are made.
`;

const OPTIONS = {
  sample: { type: "string", default: "1" },
  only: { type: "string", multiple: true, default: [] as string[] },
  without: { type: "string", multiple: true, default: [] as string[] },
} as const;

type Options = {
  readonly sample: string;
  readonly only: readonly string[];
  readonly without: readonly string[];
};

export type Output = { write(text: string): void; readonly isTTY?: boolean };

/**
 * Makes every mutant of the contract and says which the tables do not notice; the store is in a folder of its own unless one
 * is given. Resolves with the exit code, and rejects on options that choose nothing.
 */
export async function mutate(args: readonly string[], output: Output, dataDir?: string): Promise<0 | 1> {
  const { values: options } = readCommandLine(USAGE, { args: [...args], options: OPTIONS });
  return dataDir === undefined
    ? withTempDir((folder) => mutateIn(folder, options, output))
    : mutateIn(dataDir, options, output);
}

async function mutateIn(dataDir: string, options: Options, output: Output): Promise<0 | 1> {
  const { document } = readContract("openapi");
  const whole = options.sample === "1" && options.only.length === 0 && options.without.length === 0;
  await using lab = await openLab(dataDir);
  const tried = whole ? await tryRequests(document, lab) : undefined;
  const report = await runMutants({
    document,
    lab,
    suite: suiteWithout(options.without),
    ...(!whole && { choose: (mutants) => chosen(mutants, options) }),
    onProgress: (done, mutants, survivors) => {
      if (output.isTTY) output.write(`\r${done} of ${mutants} mutants, ${survivors} not noticed so far`);
    },
  });
  if (output.isTTY) output.write("\r\u001B[K");
  output.write(`${renderReport(report, tried)}\n`);
  return isClean(report) && (tried?.wrong ?? []).length === 0 ? 0 : 1;
}

function isClean({ survivors, faults }: MutationReport): boolean {
  return survivors.length === 0 && faults.length === 0;
}

function chosen(mutants: readonly Mutant[], { sample: step, only }: Options): Mutant[] {
  if (!/^[1-9]\d*$/.test(step)) throw new Error(`--sample takes a number from 1, and not ${step}`);
  const named = [...new Set(only.flatMap((text) => found("mutant", mutants, text)))];
  return sample(only.length > 0 ? named : mutants, Number(step));
}

function suiteWithout(texts: readonly string[]): Suite {
  const { answers, deliveries } = messageTables;
  const left = new Set<{ readonly name: string }>(
    texts.flatMap((text) => found("row", [...requestTable, ...answers, ...deliveries], text)),
  );
  const stays = (row: { readonly name: string }) => !left.has(row);
  return {
    calls: requestTable.filter(stays),
    messages: { answers: answers.filter(stays), deliveries: deliveries.filter(stays) },
  };
}

/** What a text in an option stands for. */
function found<Named extends { readonly name: string }>(
  what: string,
  list: readonly Named[],
  text: string,
): Named[] {
  const some = list.filter(({ name }) => name.includes(text));
  if (some.length === 0) throw new Error(`no ${what} has a name with ${text}`);
  return some;
}
