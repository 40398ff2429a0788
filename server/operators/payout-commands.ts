import { type Command, InvalidArgumentError, Option } from "commander";
import { fromCents, toCents } from "../domain/money.ts";
import { listPayouts, type Payout } from "../storage/payments/payout-feed.ts";
import type { KnownRefund, Reconciled } from "../storage/payments/reconcile.ts";
import { feedLines } from "./apply-lines.ts";
import { type AdminContext, limitOption, openClock, type RunWork, readInput } from "./command-context.ts";
import { toJsonLine } from "./command-output.ts";
import type { PayoutLine } from "./line-schemas.ts";
import { createLineParser } from "./parse-json-line.ts";

/** Defines the commands that tell the payment system what to pay, and that take back what it knows. */
export function definePayouts(program: Command, run: RunWork): void {
  program
    .command("payouts")
    .description("print the payout feed: the authorized refunds after a cursor, one JSON object per line")
    .addOption(
      new Option("--after <cursor>", "the last cursor that was read; 0 for none")
        .makeOptionMandatory()
        .argParser(cursor),
    )
    .addOption(limitOption())
    .action((page: { after: number; limit: number }) => run((context) => printPayouts(context, page)));
  program
    .command("reconcile")
    .argument("[file]", "lines as payouts prints them; standard input if left out")
    .description("after a restore: insert refunds that the payment system knows and this database doesn't")
    .action((file?: string) => run((context) => reconcile(context, file)));
}

/** An authorized refund as the payment system gets it. */
function toPayoutLine({ amountCents, authorizedAt, ...payout }: Payout): PayoutLine {
  return {
    ...payout,
    amount: { currency: "USD", value: fromCents(amountCents) },
    status: "AUTHORIZED",
    authorizedAt: authorizedAt.toISOString(),
  };
}

function toKnownRefund({ cursor: _, amount, authorizedAt, ...line }: PayoutLine): KnownRefund {
  const { clientReferenceId = null, softDescriptor = null } = line;
  const time = new Date(authorizedAt);
  return {
    ...line,
    clientReferenceId,
    softDescriptor,
    amountCents: toCents(amount.value),
    authorizedAt: time,
  };
}

function cursor(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be the cursor of a payout, or 0.");
}

/** @returns false for a cursor that the feed has not reached */
async function printPayouts({ database, output }: AdminContext, page: { after: number; limit: number }) {
  const payouts = await listPayouts(database.db, page);
  if (payouts === "unknown-cursor") {
    output.complain(
      `--after ${page.after} is higher than the cursor of any payout up to now. Correct it, or the clock of the database: payouts of the next time would have lower cursors.`,
    );
    return false;
  }
  for (const payout of payouts) output.print(toJsonLine(toPayoutLine(payout)));
  return true;
}

/**
 * Makes the database agree with the refunds that the payment system knows, line by line.
 * @returns whether it agrees with every line now
 */
async function reconcile(context: AdminContext, file: string | undefined): Promise<boolean> {
  const now = await openClock(context);
  const counts = await feedLines(
    { ...context, input: readInput(context, file) },
    {
      results: ["inserted", "kept", "unchanged", "different"],
      parse: createLineParser<PayoutLine>("PayoutLine"),
      keysOf: ({ merchant, paymentId, originalPaymentId, requestKey }) =>
        Object.entries({ paymentId, originalPaymentId, requestKey }).map((field) =>
          JSON.stringify([merchant, ...field]),
        ),
      apply: async (line: PayoutLine) => {
        const refund = toKnownRefund(line);
        const time = now();
        if (refund.authorizedAt > time)
          return { error: `authorizedAt lies after the present, which is ${time.toISOString()}` };
        return toResult(await context.store.reconcileRefund(refund, time));
      },
    },
  );
  return counts?.different === 0;
}

function toResult(reconciled: Reconciled) {
  if (typeof reconciled === "string" || "error" in reconciled) return reconciled;
  if ("differs" in reconciled)
    return { result: "different", text: `differs: ${reconciled.differs}` } as const;
  const text = `kept: ${reconciled.keptAs} has its requestKey here, and will not be paid besides`;
  return { result: "kept", text } as const;
}
