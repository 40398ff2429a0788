import type { Command } from "commander";
import { distribute, NotDistributableError } from "../storage/citus/distribute.ts";
import type { AdminContext, RunWork } from "./context.ts";
import { count } from "./output.ts";

/** A statement may move all rows of a table. In milliseconds; timers can't count much further. */
const STATEMENT_MS = 7 * 24 * 3_600_000;

export function defineDistribute(program: Command, run: RunWork): void {
  program
    .command("distribute")
    .description("spread the tables over the machines of a Citus cluster by merchant; stop all servers first")
    .action(() => run(distributeTables, STATEMENT_MS));
}

/** @returns whether the tables are distributed now */
async function distributeTables({ database, output }: AdminContext): Promise<boolean> {
  try {
    const { already, rows } = await distribute(database.db);
    const moved = `The tables are distributed: ${count(rows, "row")} moved.`;
    output.print(already ? "The tables were distributed before." : moved);
    return true;
  } catch (error) {
    if (!(error instanceof NotDistributableError)) throw error;
    output.complain(error.message);
    return false;
  }
}
