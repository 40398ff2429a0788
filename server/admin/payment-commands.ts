import { createHash } from "node:crypto";
import { createKeyedQueue } from "../async/keyed-queue.ts";
import { readContract } from "../contract/document.ts";
import type { PaymentKey } from "../storage/statements/payment-record.ts";
import { type Applied, applyPayment, type PaymentStore } from "./apply-payment.ts";
import { count, type Output, startProgress } from "./output.ts";
import { createPaymentLineParser, type PaymentLine } from "./payment-line.ts";

export type PaymentsOptions = {
  store: PaymentStore;
  /** The domain's time. */
  now: () => Date;
  input: AsyncIterable<Buffer>;
  output: Output;
  /** Aborted together with the input: lines in progress are completed, and no further ones begin. */
  signal: AbortSignal;
  /** Called once, at the end, with what the record keeps of the feed. */
  report(summary: FeedSummary): void;
};

/** What was read and done, so that a file can be recognised, and found to be another one. */
export type FeedSummary = {
  /** Of the bytes that were read, in hexadecimal digits. */
  readonly sha256: string;
  readonly bytes: number;
  readonly lines: number;
  readonly applied: number;
  readonly unchanged: number;
  readonly refused: number;
  /** The payments of the first and the last valid line. */
  readonly first: PaymentKey | null;
  readonly last: PaymentKey | null;
};

const MAX_LINE_BYTES = 64 * 1024;
const RUN_AGAIN = "Run it again with the same lines: those that were carried out change nothing.";
/** Lines that are applied at once; fewer than a pool has connections. */
const CONCURRENCY = 16;

/**
 * Applies lines of JSON about original payments (D25). Lines with the same payment or requestKey are applied in their order,
 * others concurrently. After an interruption the same lines can be fed again: those that were applied change nothing.
 * Rejects with the store's error, after the lines in progress have ended and the counts were printed.
 *
 * @returns whether every line was accepted
 */
export async function feedPayments(options: PaymentsOptions): Promise<boolean> {
  const { input, output, signal } = options;
  const parseLine = createPaymentLineParser(await readContract("payment-lines"));
  const counts = { lines: 0, applied: 0, unchanged: 0, refused: 0 };
  const digest = createHash("sha256");
  let bytes = 0;
  let first: PaymentKey | null = null;
  let last: PaymentKey | null = null;
  const chunks = tap(input, (chunk) => {
    digest.update(chunk);
    bytes += chunk.length;
  });
  const progress = startProgress(
    output,
    () => `${count(counts.lines, "line")}, ${counts.applied} applied, ${counts.refused} refused`,
  );
  const queue = createKeyedQueue(CONCURRENCY);
  const refuse = (number: number, error: string) => {
    counts.refused += 1;
    output.print(`line ${number} refused: ${error}`);
  };
  const record = (number: number, applied: Applied) => {
    if (typeof applied === "string") counts[applied] += 1;
    else refuse(number, applied.error);
  };

  async function feed(): Promise<void> {
    for await (const line of readLines(chunks, MAX_LINE_BYTES)) {
      if (isBlank(line)) continue;
      counts.lines += 1;
      const parsed = line.bytes ? parseLine(line.bytes) : { error: `is longer than ${MAX_LINE_BYTES} bytes` };
      if ("error" in parsed) refuse(line.number, parsed.error);
      else {
        last = { merchant: parsed.merchant, paymentId: parsed.paymentId };
        first ??= last;
        await queue.add(keysOf(parsed), async () => {
          record(line.number, await applyPayment(options.store, parsed, options.now()));
        });
      }
    }
  }

  let complete = false;
  try {
    await feed().catch((error: unknown) => {
      if (!signal.aborted) throw error; // the aborted input fails too
    });
    await queue.end();
    complete = !signal.aborted;
  } finally {
    // The caller reports the error. The other lines end first, so that the counts are final.
    await queue.end().catch(() => {});
    progress.stop();
    const { lines, applied, unchanged, refused } = counts;
    options.report({ sha256: digest.digest("hex"), bytes, ...counts, first, last });
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

async function* tap(input: AsyncIterable<Buffer>, see: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    see(chunk);
    yield chunk;
  }
}

function keysOf(line: PaymentLine): string[] {
  const payment = JSON.stringify([line.merchant, "payment", line.paymentId]);
  if (line.op !== "put" || line.requestKey === null) return [payment];
  return [payment, JSON.stringify([line.merchant, "key", line.requestKey])];
}

/** A line of a stream. */
export type Line = {
  /** From 1. */
  number: number;
  /** Without the line feed; undefined for a line that is too long. */
  bytes: Buffer | undefined;
};

const LF = 0x0a;

/**
 * Reads the lines of a stream one by one, no faster than they are consumed. Memory holds one chunk and one line at most,
 * however long the stream or a line may be.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;

  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const endLine = (): Line => {
    const line = { number, bytes: length <= maxBytes ? Buffer.concat(pieces) : undefined };
    number += 1;
    pieces = [];
    length = 0;
    return line;
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      append(chunk.subarray(start, end));
      yield endLine();
      start = end + 1;
    }
    append(chunk.subarray(start));
  }
  if (length > 0) yield endLine();
}

function isBlank({ bytes }: Line): boolean {
  return bytes?.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d) ?? false;
}
