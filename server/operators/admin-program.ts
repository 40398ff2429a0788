import { Command, type OutputConfiguration } from "commander";
import { ADMIN_COMMAND } from "../config/environment.ts";
import { distribute, NotDistributableError } from "../storage/citus/distribute-tables.ts";
import { defineAudit } from "./audit-commands.ts";
import { defineRestrictions } from "./block-and-hold-commands.ts";
import { defineCheck } from "./check-command.ts";
import { type AdminContext, openClock, type RunWork, readInput } from "./command-context.ts";
import { defineErase } from "./erase-command.ts";
import { feedPayments } from "./import-payments.ts";
import { definePayouts } from "./payout-commands.ts";
import { grantRights } from "./statements/role-rights.ts";
import { defineDeliveries, defineSubscriptions } from "./webhook-commands.ts";

/**
 * Defines the commands of `npm run admin` and their help. An invalid command line prints the error and the usage, and throws a
 * `CommanderError`.
 */
export function createProgram(run: RunWork, output: OutputConfiguration): Command {
  const program = new Command(ADMIN_COMMAND)
    .description("Works on the database in DATABASE_URL. No server has to run.")
    .addHelpText(
      "after",
      '\n"Going live" and "Runbook" in docs/operators say more. Exits with 1 when something was refused or failed,\nand with 2 when the command line is wrong.',
    )
    .configureHelp({ helpWidth: 120, sortSubcommands: false })
    .configureOutput(output)
    .showHelpAfterError()
    .showSuggestionAfterError(false)
    .exitOverride();
  defineMigrate(program, run);
  defineRights(program, run);
  defineDistribute(program, run);
  definePayments(program, run);
  definePayouts(program, run);
  defineDeliveries(program, run);
  defineSubscriptions(program, run);
  defineErase(program, run);
  defineRestrictions(program, run);
  defineAudit(program, run);
  defineCheck(program, run);
  return program;
}

function defineMigrate(program: Command, run: RunWork): void {
  program
    .command("migrate")
    .description("update the tables to this release; needs a role that may create them")
    .action(() =>
      run(async ({ output }) => {
        // The database was migrated when it was opened.
        output.print("The tables are up to date.");
        return true;
      }),
    );
}

function defineRights(program: Command, run: RunWork): void {
  program
    .command("rights")
    .argument("[name]", "the word with which the names of the roles begin", "refunds")
    .description("give the roles of the guide the rights of this release; needs the role that migrates")
    .action((name: string) =>
      run(async ({ database: { db }, settings, output }) => {
        await grantRights(db, name, settings.retentionDays());
        output.print("The roles have their rights.");
        return true;
      }),
    );
}

/** A statement may move all rows of a table. In milliseconds; timers can't count much further. */
const DISTRIBUTE_MS = 7 * 24 * 3_600_000;

function defineDistribute(program: Command, run: RunWork): void {
  program
    .command("distribute")
    .description("spread the tables over the machines of a Citus cluster by merchant; stop all servers first")
    .action(() => run(distributeTables, DISTRIBUTE_MS));
}

/** @returns whether the tables are distributed now */
async function distributeTables({ database, output }: AdminContext): Promise<boolean> {
  try {
    const isNew = await distribute(database.db);
    output.print(isNew ? "The tables are distributed." : "The tables were distributed before.");
    return true;
  } catch (error) {
    if (!(error instanceof NotDistributableError)) throw error;
    output.complain(error.message);
    return false;
  }
}

function definePayments(program: Command, run: RunWork): void {
  program
    .command("payments")
    .argument("[file]", "standard input if left out")
    .description("import original payments, one JSON object per line")
    .action((file?: string) =>
      run(async (context) => {
        const now = await openClock(context);
        return feedPayments({ ...context, now, input: readInput(context, file) });
      }),
    );
}
