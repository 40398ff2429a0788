import type { Command } from "commander";
import { repeatAfterConflicts } from "../storage/database/database-errors.ts";
import { type AdminContext, notEmpty, pastDate, REFERENCE_OPTION, type RunWork } from "./command-context.ts";
import { count } from "./command-output.ts";
import {
  ERASED_KINDS,
  type ErasedKind,
  type ErasedPart,
  erase,
  eraseReference,
  recordErasure,
} from "./statements/erase-data.ts";

/** Defines the command that erases the data of a merchant, or of one of its customers. */
export function defineErase(program: Command, run: RunWork): void {
  program
    .command("erase")
    .description(
      "erase a merchant's older data, or that of one customer; of payments, only the texts that the merchant wrote about customers",
    )
    .requiredOption("--merchant <merchant>")
    .option("--before <date>", "a day, such as 2026-08-01, which begins at 00:00 UTC; or a time", pastDate)
    .option(
      `${REFERENCE_OPTION} <reference>`,
      "a clientReferenceId, or the id of an account or a customer; it is recorded nowhere",
      notEmpty,
    )
    .action(async (choice: { merchant: string; before?: Date; reference?: string }, command: Command) => {
      const { merchant, before, reference } = choice;
      if (before && reference === undefined) {
        await run(({ database: { db }, ...context }) =>
          eraseMerchant({ db, ...context }, { merchant, before }),
        );
      } else if (!before && reference !== undefined) {
        await run(({ database: { db }, ...context }) =>
          eraseCustomer({ db, ...context }, { merchant, reference }),
        );
      } else command.error("error: erase takes either --before or --reference");
    });
}

type ErasedReference = Awaited<ReturnType<typeof eraseReference>>;

export type EraseParts = Pick<AdminContext, "output" | "signal"> & { db: AdminContext["database"]["db"] };
/** Rows that are erased by one statement. */
const PART_SIZE = 500;

/**
 * Erases what is stored of a merchant and is older than the given time: finished deliveries, events with the callers who caused
 * them, ended subscriptions, who made the others, and what the merchant wrote into payments. Payments and refunds themselves stay, because they are the record of the money.
 * An interrupted run continues when the command is run again.
 * @returns whether everything that had to be erased has been erased
 */
export async function eraseMerchant(
  { db, output, signal }: EraseParts,
  choice: { merchant: string; before: Date },
): Promise<boolean> {
  async function eraseAll(kind: ErasedKind) {
    const total = { erased: 0, kept: 0 };
    let after: string | undefined = "";
    while (after !== undefined && !signal.aborted) {
      const page = { ...choice, after, atMost: PART_SIZE };
      const part: ErasedPart = await repeatAfterConflicts(() => erase(db, kind, page));
      total.erased += part.erased;
      total.kept += part.kept;
      after = part.last;
    }
    return total;
  }
  await recordErasure(db, choice);
  const erased = {} as Record<ErasedKind, Awaited<ReturnType<typeof eraseAll>>>;
  for (const kind of ERASED_KINDS) erased[kind] = await eraseAll(kind);
  const { deliveries, events, subscriptions, subscribers, paymentTexts: payments } = erased;
  output.print(
    `${choice.merchant}: erased ${count(deliveries.erased, "delivery")}, ${count(events.erased, "event")}, ` +
      `${count(subscriptions.erased, "ended subscription")}, the texts of ${count(payments.erased, "payment")}, ` +
      `and who made ${count(subscribers.erased, "subscription")}`,
  );
  if (deliveries.kept > 0) {
    output.complain(
      `${count(deliveries.kept, "delivery")} stayed, because they are still pending. Disable their subscriptions, and run it again.`,
    );
  }
  if (signal.aborted) output.complain("Interrupted. Run it again.");
  return deliveries.kept === 0 && !signal.aborted;
}

/**
 * Erases what a merchant's reference of a customer leads to, however new it is. It can be run again at any time.
 * @returns whether nothing of it had to stay
 */
export async function eraseCustomer(
  { db, output, signal }: EraseParts,
  { merchant, reference }: { merchant: string; reference: string },
): Promise<boolean> {
  const total = { deliveries: 0, events: 0, payments: 0, kept: 0 };
  let after: string | undefined = "";
  while (after !== undefined && !signal.aborted) {
    const page = { merchant, reference, after, atMost: PART_SIZE };
    const part: ErasedReference = await repeatAfterConflicts(() => eraseReference(db, page));
    for (const name of ["deliveries", "events", "payments", "kept"] as const) total[name] += part[name];
    after = part.last;
  }
  output.print(
    `${merchant}: erased ${count(total.deliveries, "delivery")}, ${count(total.events, "event")}, and the texts of ${count(total.payments, "payment")}`,
  );
  if (total.kept > 0) {
    output.complain(
      `${count(total.kept, "event")} stayed: deliveries of it are still pending, or it is the newest of an account or a customer.`,
    );
  }
  if (signal.aborted) output.complain("Interrupted. Run it again.");
  return total.kept === 0 && !signal.aborted;
}
