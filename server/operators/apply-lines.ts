import { isStatementTimeout } from "../storage/database/database-errors.ts";
import type { PaymentKey } from "../storage/payments/payment-record.ts";
import { count, type Output } from "./command-output.ts";
import type { LineError } from "./parse-json-line.ts";

/**
 * Applies lines of JSON. After an interruption the same lines can be fed again: those that were applied change nothing.
 * A line that takes the database too long is refused, and so are those that must follow it: otherwise one payment could stop all others.
 * Rejects with any other error of `apply`, after the lines in progress have ended and the counts were printed.
 * @returns the number of lines with each result; undefined when a line was refused or not all were read
 */
export async function feedLines<Line extends PaymentKey, Result extends string>(
  { input, output, signal }: LineStream,
  work: LineWork<Line, Result>,
): Promise<Readonly<Record<Result, number>> | undefined> {
  const counts = Object.fromEntries(work.results.map((result) => [result, 0])) as Record<Result, number>;
  let [lines, refused] = [0, 0];
  const queue = createKeyedQueue(CONCURRENCY);
  const refuse = (number: number, error: string) => {
    refused += 1;
    output.print(`line ${number} refused: ${error}`);
  };
  /** The keys of lines that took too long. */
  const late = new Set<string>();
  const applyInTime = async (line: Line) => {
    const keys = work.keysOf(line);
    try {
      if (!keys.some((key) => late.has(key))) return await work.apply(line);
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
    }
    for (const key of keys) late.add(key);
    return { error: TOO_LONG };
  };
  const applyOne = async (number: number, line: Line) => {
    const applied = await applyInTime(line);
    if (typeof applied === "object" && "error" in applied) return refuse(number, applied.error);
    const { result, text } = typeof applied === "string" ? { result: applied, text: undefined } : applied;
    counts[result] += 1;
    if (text !== undefined) output.print(`line ${number} ${text}`);
  };

  async function feed(): Promise<void> {
    for await (const line of readLines(input, MAX_LINE_BYTES)) {
      if (isBlank(line)) continue;
      lines += 1;
      const parsed = line.bytes
        ? work.parse(line.bytes)
        : { error: `is longer than ${MAX_LINE_BYTES} bytes` };
      if ("error" in parsed) refuse(line.number, parsed.error);
      else await queue.add(work.keysOf(parsed), () => applyOne(line.number, parsed));
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
    const known = work.results.reduce((sum, result) => sum + counts[result], refused);
    const outcomes = Object.entries({ ...counts, refused, "not known": lines - known })
      .filter(([name, number]) => name !== "not known" || number > 0)
      .map(([name, number]) => `${number} ${name}`);
    output.print(`${count(lines, "line")}: ${outcomes.join(", ")}`);
    if (signal.aborted || (!complete && lines > 0))
      output.complain(`${signal.aborted ? "Interrupted" : "Broken off"}. ${RUN_AGAIN}`);
  }
  return refused === 0 && complete ? counts : undefined;
}

/**
 * Runs tasks concurrently, except that tasks with a key in common run one after the other, in the order in which they were
 * added. After one has failed, no other begins.
 * @param capacity how many tasks may run or wait for an earlier one
 */
function createKeyedQueue(capacity: number) {
  const tails = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  const throwFailure = () => {
    if (failed) throw failed.error;
  };
  return {
    /** Resolves when there is room for the next task. Rejects with the error of an earlier task. */
    async add(keys: readonly string[], task: () => Promise<void>): Promise<void> {
      const run: Promise<void> = Promise.all(keys.map((key) => tails.get(key)))
        .then(() => (failed ? undefined : task()))
        .catch((error: unknown) => {
          failed ??= { error };
        })
        .finally(() => {
          running.delete(run);
          for (const key of keys) if (tails.get(key) === run) tails.delete(key);
        });
      running.add(run);
      for (const key of keys) tails.set(key, run);
      while (running.size >= capacity) await Promise.race(running);
      throwFailure();
    },
    /** Resolves when all tasks have ended. Rejects with the error of one that failed. */
    async end(): Promise<void> {
      await Promise.all(running);
      throwFailure();
    },
  };
}

/** What lines are read from, and where their results go. */
export type LineStream = {
  input: AsyncIterable<Buffer>;
  output: Output;
  /** Aborted together with the input: lines in progress are completed, and no further ones begin. */
  signal: AbortSignal;
};

/** How lines of a kind are carried out. */
export type LineWork<Line extends PaymentKey, Result extends string> = {
  /** The results of lines that aren't refused, in the order of the summary. */
  readonly results: readonly Result[];
  parse(bytes: Buffer): Line | LineError;
  /** Lines with a key in common are applied in their order, others concurrently. */
  keysOf(line: Line): string[];
  /** Resolves with the result, and with a text that is printed with the line's number. */
  apply(line: Line): Promise<Result | { readonly result: Result; readonly text: string } | LineError>;
};

const MAX_LINE_BYTES = 64 * 1024;
const RUN_AGAIN = "Run it again with the same lines: those that were carried out change nothing.";
const TOO_LONG =
  "the database took too long for it, or for an earlier line that it must follow; feed both in another run";
/** Lines that are applied at once; fewer than a pool has connections, but more than the pool of a worker of Citus. */
const CONCURRENCY = 16;

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
