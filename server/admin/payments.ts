import { type Applied, applyPayment, type PaymentStore } from "./apply-payment.ts";
import { createLanes } from "./lanes.ts";
import { type Line, readLines } from "./lines.ts";
import { count, type Output, startProgress } from "./output.ts";
import { type PaymentLine, parsePaymentLine } from "./payment-line.ts";

export interface PaymentsOptions {
  store: PaymentStore;
  /** The domain's time. */
  now: () => Date;
  input: AsyncIterable<Buffer>;
  output: Output;
  /** Aborted with the input: what is under way ends, and that is all. */
  signal: AbortSignal;
}

const MAX_LINE_BYTES = 64 * 1024;
const RUN_AGAIN = "Run it again with the same lines: those that were carried out change nothing.";
/** Lines carried out at once; fewer than a pool has connections. */
const PLACES = 16;

/**
 * Feeds original payments from lines of JSON. Lines about one payment, or with one requestKey, are carried out in their order.
 * Run again after it was broken off, it passes over what was done.
 * Rejects with what the store fails with, when that has been told and nothing is under way any more.
 *
 * @returns whether every line was accepted
 */
export async function feedPayments(options: PaymentsOptions): Promise<boolean> {
  const { input, output, signal } = options;
  const counts = { lines: 0, applied: 0, unchanged: 0, refused: 0 };
  const progress = startProgress(
    output,
    () => `${count(counts.lines, "line")}, ${counts.applied} applied, ${counts.refused} refused`,
  );
  const lanes = createLanes(PLACES);
  const refuse = (number: number, fault: string) => {
    counts.refused += 1;
    output.print(`line ${number} refused: ${fault}`);
  };
  const record = (number: number, applied: Applied) => {
    if (typeof applied === "string") counts[applied] += 1;
    else refuse(number, applied.fault);
  };

  async function feed(): Promise<void> {
    for await (const line of readLines(input, MAX_LINE_BYTES)) {
      if (isBlank(line)) continue;
      counts.lines += 1;
      const parsed = parse(line);
      if ("fault" in parsed) refuse(line.number, parsed.fault);
      else {
        await lanes.enter(keysOf(parsed), async () => {
          record(line.number, await applyPayment(options.store, parsed, options.now()));
        });
      }
    }
  }

  let complete = false;
  try {
    await feed().catch((error: unknown) => {
      if (!signal.aborted) throw error; // an interruption ends the input so
    });
    await lanes.end();
    complete = !signal.aborted;
  } finally {
    // Whatever has failed is told by who called; here the rest ends first, so that the counts hold.
    await lanes.end().catch(() => {});
    progress.stop();
    const { lines, applied, unchanged, refused } = counts;
    const unknown = lines - applied - unchanged - refused;
    output.print(
      `${count(lines, "line")}: ${applied} applied, ${unchanged} unchanged, ${refused} refused` +
        (unknown > 0 ? `, ${unknown} not known` : ""),
    );
    if (signal.aborted || (!complete && lines > 0))
      output.complain(`${signal.aborted ? "Interrupted" : "Broken off"}. ${RUN_AGAIN}`);
  }
  return counts.refused === 0 && complete;
}

function isBlank({ bytes }: Line): boolean {
  return bytes?.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d) ?? false;
}

function parse({ bytes }: Line): PaymentLine | { fault: string } {
  return bytes ? parsePaymentLine(bytes) : { fault: `is longer than ${MAX_LINE_BYTES} bytes` };
}

function keysOf(line: PaymentLine): string[] {
  const payment = JSON.stringify([line.merchant, "payment", line.paymentId]);
  if (line.op !== "put" || line.requestKey === null) return [payment];
  return [payment, JSON.stringify([line.merchant, "key", line.requestKey])];
}
