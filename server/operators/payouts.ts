import { type Command, InvalidArgumentError, Option } from "commander";
import type { ContractDocument } from "../contract/document.ts";
import { fromCents, toCents } from "../domain/money.ts";
import { type Bound, bindAll } from "../storage/acts.ts";
import type { KnownRefund, Reconciled } from "../storage/operators/reconcile.ts";
import { listPayouts, type Payout } from "../storage/payments/payouts.ts";
import type { Store } from "../storage/store.ts";
import { limitOption, openClock, type RunWork, readInput } from "./context.ts";
import { createLineParser, type LineError } from "./json-line.ts";
import { feedLines, type LineStream } from "./line-feed.ts";
import { type PayoutLine, readLineSchemas } from "./line-schemas.ts";
import { type Output, toJsonLine } from "./output.ts";

/** An authorized refund as the payment system gets it. */
export function toPayoutLine({ amountCents, authorizedAt, ...payout }: Payout): PayoutLine {
  return {
    ...payout,
    amount: { currency: "USD", value: fromCents(amountCents) },
    status: "AUTHORIZED",
    authorizedAt: authorizedAt.toISOString(),
  };
}

/** Reads lines that are valid by the schema `PayoutLine`. */
export function createPayoutLineParser(
  document: ContractDocument,
): (bytes: Buffer) => KnownRefund | LineError {
  const parse = createLineParser<PayoutLine>(document, "PayoutLine");
  return (bytes) => {
    const parsed = parse(bytes);
    return "error" in parsed ? parsed : toKnownRefund(parsed.value);
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
    .action((page: { after: number; limit: number }) =>
      run(({ database, output }) =>
        printPayouts({ store: bindAll(database.db, { listPayouts }), output }, page),
      ),
    );
  program
    .command("reconcile")
    .argument("[file]", "lines as payouts prints them; standard input if left out")
    .description("after a restore: insert refunds that the payment system knows and this database doesn't")
    .action((file?: string) =>
      run(async (context) => {
        const { store, output, signal, report } = context;
        const [now, input] = [await openClock(context), readInput(context, file)];
        return reconcile({ store, now, input, output, signal, report });
      }),
    );
}

function cursor(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be the cursor of a payout, or 0.");
}

type PayoutOptions = { store: Bound<{ listPayouts: typeof listPayouts }>; output: Output };

/**
 * Prints the payout feed after a cursor, one JSON object on each line.
 * @returns whether the feed has come as far as the cursor
 */
async function printPayouts({ store, output }: PayoutOptions, page: { after: number; limit: number }) {
  const payouts = await store.listPayouts(page);
  if (payouts === "unknown-cursor") {
    output.complain(
      `--after ${page.after} lies after the present. Correct it, or the clock of the database: nothing that is published now would come after it.`,
    );
    return false;
  }
  for (const payout of payouts) output.print(toJsonLine(toPayoutLine(payout)));
  return true;
}

type ReconcileOptions = LineStream & {
  store: Pick<Store, "reconcileRefund">;
  /** The domain's time. */
  now: () => Date;
};

/**
 * Makes the database agree with the refunds that the payment system knows, line by line.
 * @returns whether it agrees with every line now
 */
async function reconcile({ store, now, ...stream }: ReconcileOptions): Promise<boolean> {
  const counts = await feedLines(stream, {
    results: ["inserted", "kept", "unchanged", "different"],
    parse: createPayoutLineParser(readLineSchemas()),
    keysOf: ({ merchant, paymentId, originalPaymentId, requestKey }) =>
      Object.entries({ paymentId, originalPaymentId, requestKey }).map((field) =>
        JSON.stringify([merchant, ...field]),
      ),
    apply: async (refund: KnownRefund) => {
      const time = now();
      if (refund.authorizedAt > time)
        return { error: `authorizedAt lies after the present, which is ${time.toISOString()}` };
      return toResult(await store.reconcileRefund(refund, time));
    },
  });
  return counts?.different === 0;
}

function toResult(reconciled: Reconciled) {
  if (typeof reconciled === "string" || "error" in reconciled) return reconciled;
  if ("differs" in reconciled)
    return { result: "different", text: `differs: ${reconciled.differs}` } as const;
  const text = `kept: ${reconciled.keptAs} has its requestKey here, and will not be paid besides`;
  return { result: "kept", text } as const;
}
