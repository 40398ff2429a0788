import type { Command } from "commander";
import { isDistributed } from "../storage/citus/shard-functions.ts";
import type { AdminContext, RunWork } from "./command-context.ts";
import { count } from "./command-output.ts";
import { readErasedPayments, readErasures, saveCheck, toKey } from "./statements/check-results.ts";
import {
  type CheckedTable,
  type Difference,
  findDifferences,
  findRange,
  findWrongStates,
} from "./statements/compare-records.ts";
import { compareRights } from "./statements/role-rights.ts";

/** Defines the command that compares the records of the database with one another. */
export function defineCheck(program: Command, run: RunWork): void {
  program
    .command("check")
    .description(
      "compare all sums, statuses, events and deliveries with one another, and name each difference",
    )
    .action(() => run(checkDatabase));
}

/**
 * Compares the records of all merchants, range by range, and keeps the result for the metrics of servers. Triggers, rights and states
 * are compared first.
 * @returns whether everything was compared, and there is no difference
 */
async function checkDatabase({ database, store, settings, output, signal }: AdminContext): Promise<boolean> {
  const { db, readTime } = database;
  const plain = !(await isDistributed(database));
  const days = settings.retentionDays();
  const now = (await readTime()).getTime();
  // Older events may have been removed.
  const eventsSince = new Date(days === undefined ? 0 : now - days * DAY_MS + MARGIN_MS);
  let [records, differences] = [0, 0];
  const report = (line: string) => {
    differences += 1;
    output.print(line);
  };
  for (const name of await store.findMissingTriggers())
    report(`table payments: the trigger ${name} is missing or disabled, and should be enabled`);
  for (const line of [...(plain ? await compareRights(db) : []), ...(await findWrongStates(db))])
    report(line);

  async function compare(table: CheckedTable): Promise<void> {
    const erasures = await readErasures(db);
    let after: string | undefined = "";
    while (after !== undefined && !signal.aborted) {
      const range: Awaited<ReturnType<typeof findRange>> = await findRange(db, table, after);
      const found = await findDifferences(db, table, { ...range, eventsSince, plain });
      const payments = await readErasedPayments(db, range);
      for (const difference of found) {
        if (!isErased(difference, { merchants: erasures, payments })) report(toLine(difference));
      }
      records += range.records;
      after = range.upTo;
      await output.flushed();
    }
  }
  await compare("payments");
  await compare("deliveries");
  if (signal.aborted) {
    output.complain("Interrupted: the comparison is not complete, and its result is not kept.");
    return false;
  }
  await saveCheck(db, { records, differences });
  output.print(`${count(records, "record")}: ${count(differences, "difference")}`);
  return differences === 0;
}

/** Events are removed by the minute, and by the time in their ids. */
const MARGIN_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** What operators have erased. */
type Erased = {
  readonly merchants: ReadonlyMap<string, Date>;
  readonly payments: ReadonlyMap<string, number>;
};

/** Whether an event is missing because it was erased on request. */
function isErased(difference: Difference, { merchants, payments }: Erased): boolean {
  const { merchant, missing_since: at, missing_sequence: sequence } = difference;
  if (!at || !sequence) return false;
  const before = merchants.get(merchant);
  return (
    (before !== undefined && new Date(at) < before) || sequence <= (payments.get(toKey(difference)) ?? 0)
  );
}

function toLine({ merchant, id, what, found, expected }: Difference): string {
  return `${id} of ${merchant}: ${what} is ${found}, and should be ${expected}`;
}
