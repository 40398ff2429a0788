import type { distribute } from "../storage/citus/distribute.ts";
import { NotDistributableError } from "../storage/citus/preconditions.ts";
import { count, type Output, startProgress } from "./output.ts";

type Options = NonNullable<Parameters<typeof distribute>[1]>;

/**
 * Spreads the tables over the machines of a cluster, and says where they are.
 *
 * @returns whether they are distributed now
 */
export async function distributeTables(
  run: (options: Options) => ReturnType<typeof distribute>,
  { output, signal }: { output: Output; signal: AbortSignal },
): Promise<boolean> {
  const startedMs = performance.now();
  let doing = "waiting for other sessions";
  const progress = startProgress(output, () => doing);
  try {
    const done = await run({
      signal,
      onStep: ({ table, rows, number, of }) => {
        doing = `table ${number} of ${of}: ${table}, ${count(rows, "row")}`;
      },
    });
    progress.stop();
    const seconds = Math.ceil((performance.now() - startedMs) / 1000);
    output.print(
      done.already
        ? "The tables were distributed before."
        : `The tables are distributed: ${count(done.rows, "row")} moved in ${seconds} s.`,
    );
    output.print(
      `${done.byMerchant.join(", ")}: by merchant, in ${count(done.shards, "shard")} each, on ${count(done.machines, "machine")}`,
    );
    output.print(`${done.everywhere.join(", ")}: on every machine`);
    return true;
  } catch (error) {
    if (!(error instanceof NotDistributableError)) throw error;
    output.complain(error.message);
    return false;
  } finally {
    progress.stop();
  }
}
