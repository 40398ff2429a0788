import { type Command, Option } from "commander";
import { type Hold, hold, listHolds, release, untilHeld } from "../storage/payments/holds.ts";
import { hasPayments } from "../storage/payments/payment-queries.ts";
import { type Bound, bindStore } from "../storage/storage.ts";
import type { AdminContext, RunWork } from "./context.ts";
import { notEmpty } from "./options.ts";
import { complainOfUnknown, type Output, toTable } from "./output.ts";

type Choice = { merchant?: string; all: boolean };

/** Defines the commands that keep refunds from being authorized for now. */
export function defineHolds(program: Command, run: RunWork): void {
  const choose = (command: Command) =>
    command
      .addOption(new Option("--merchant <merchant>").argParser(notEmpty))
      .option("--all", "all merchants", false);
  /** Neither of them must be left out, because a mistake would hold or release too much. */
  const one = ({ merchant, all }: Choice, command: Command) => {
    if (all === (merchant !== undefined)) {
      command.error(`error: ${command.name()} takes either --merchant or --all`);
    }
    return { merchant };
  };
  choose(program.command("hold"))
    .addOption(new Option("--reason <text>").makeOptionMandatory().argParser(notEmpty))
    .description("authorize no refund of a merchant, or of anybody, until it is released")
    .action(async (choice: Choice & { reason: string }, command: Command) => {
      const held = { ...one(choice, command), reason: choice.reason };
      await run((context) => holdRefunds(open(context), held));
    });
  choose(program.command("release"))
    .description("end a hold; refunds that have fallen due meanwhile are authorized within seconds")
    .action(async (choice: Choice, command: Command) => {
      const held = one(choice, command);
      await run((context) => releaseRefunds(open(context), held));
    });
  program
    .command("holds")
    .description("list what is held, oldest first")
    .action(() => run((context) => printHolds(open(context))));
}

const FUNCTIONS = { hasPayments, hold, listHolds, release, untilHeld };

type Parts = { store: Bound<typeof FUNCTIONS>; output: Output };

function open({ database, output }: AdminContext): Parts {
  return { store: bindStore(database.db, FUNCTIONS), output };
}

/** Resolves when no refund can become AUTHORIZED any more. */
async function holdRefunds(
  { store, output }: Parts,
  choice: Pick<Hold, "merchant" | "reason">,
): Promise<boolean> {
  const held = await store.hold(choice);
  await store.untilHeld();
  const { merchant } = choice;
  if (merchant !== undefined && !(await store.hasPayments({ merchant }))) complainOfUnknown(merchant, output);
  output.print(
    `${nameOf(choice)}: ${held ? "held" : "was held already"}; refunds stay PENDING until they are released`,
  );
  return true;
}

/** @returns whether there was such a hold */
async function releaseRefunds({ store, output }: Parts, choice: Pick<Hold, "merchant">): Promise<boolean> {
  const released = await store.release(choice);
  output.print(`${nameOf(choice)}: ${released ? "released" : "there is no such hold"}`);
  const left = await store.listHolds();
  if (left.length > 0) output.complain(`Still held: ${left.map(nameOf).join(", ")}`);
  return released;
}

async function printHolds({ store, output }: Parts): Promise<boolean> {
  const holds = await store.listHolds();
  const rows = holds.map((held) => [nameOf(held), held.heldAt.toISOString(), held.reason]);
  if (rows.length === 0) output.print("None.");
  else for (const line of toTable(["merchant", "held", "reason"], rows)) output.print(line);
  return true;
}

function nameOf({ merchant }: Pick<Hold, "merchant">): string {
  return merchant ?? "all merchants";
}
