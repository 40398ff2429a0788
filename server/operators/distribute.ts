import { type Distribution, NotDistributableError } from "../storage/citus/distribute.ts";
import { count, type Output, startProgress } from "./output.ts";

type OnTable = (table: string, rows: number) => void;

/**
 * Spreads the tables over the machines of a cluster.
 *
 * @returns whether they are distributed now
 */
export async function distributeTables(
  run: (onTable: OnTable) => Promise<Distribution>,
  { output }: { output: Output },
): Promise<boolean> {
  let doing = "waiting for other sessions";
  const progress = startProgress(output, () => doing);
  try {
    const { already, rows } = await run((table, rows) => {
      doing = `${table}, ${count(rows, "row")}`;
    });
    progress.stop();
    output.print(
      already
        ? "The tables were distributed before."
        : `The tables are distributed: ${count(rows, "row")} moved.`,
    );
    return true;
  } catch (error) {
    if (!(error instanceof NotDistributableError)) throw error;
    output.complain(error.message);
    return false;
  } finally {
    progress.stop();
  }
}
