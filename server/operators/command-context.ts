import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { InvalidArgumentError, Option } from "commander";
import type { CommandSettings } from "../config/database-and-retention.ts";
import { toDomainTime } from "../domain/domain-time.ts";
import { DEFAULT_OVERLAP_MS, MAX_OVERLAP_MS } from "../domain/secret-overlap.ts";
import { readOffset } from "../storage/clock-offset.ts";
import type { Database } from "../storage/database/database.ts";
import type { Store } from "../storage/open-store.ts";
import type { Output } from "./command-output.ts";

/** What a command works with. */
export type AdminContext = {
  settings: CommandSettings;
  database: Database;
  store: Store;
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
};

/** The work of a command whose arguments are valid; resolves with whether all of it succeeded. */
export type Work = (context: AdminContext) => Promise<boolean>;

/** Runs the work of the chosen command; its statements may take as long as other commands' unless a limit is given. */
export type RunWork = (work: Work, statementMs?: number) => Promise<void>;

/** The bytes of a file, or of standard input without one, until the operator interrupts. */
export function readInput({ stdin, signal }: AdminContext, file: string | undefined): AsyncIterable<Buffer> {
  return addAbortSignal(signal, file === undefined ? stdin : createReadStream(file));
}

/** The domain's time, by the database's clock (D30). */
export async function openClock({ database: { db, readTime } }: AdminContext): Promise<() => Date> {
  const offsetMs = await readOffset(db);
  const aheadMs = (await readTime()).getTime() - performance.now();
  return () => toDomainTime(new Date(performance.now() + aheadMs), offsetMs);
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** How many rows a list shows. */
export function limitOption(): Option {
  return new Option("--limit <n>").default(DEFAULT_LIMIT).argParser((text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= MAX_LIMIT) return value;
    throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_LIMIT}.`);
  });
}

/** Parses an argument that must say something, so that an unset variable of a shell is an error. */
export function notEmpty(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must not be empty.");
}

/** Parses a day or a time that is not in the future: a mistyped year must not erase everything. */
export const pastDate = (text: string) => parseDate(text, "not in the future", (date, now) => date <= now);

/** Parses a day or a time in the future. */
export const futureDate = (text: string) => parseDate(text, "in the future", (date, now) => date > now);

function parseDate(text: string, when: string, fits: (date: Date, now: Date) => boolean): Date {
  const date = toDate(text);
  if (date && fits(date, new Date())) return date;
  throw new InvalidArgumentError(`It must be a day such as 2026-08-01 or a time with its offset, ${when}.`);
}

/** A day, which begins at 00:00 UTC, or a time with its offset (ISO 8601). */
function toDate(text: string): Date | undefined {
  const day = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const date = new Date(text);
  // `Date` turns a day that does not exist into one of the next month.
  const itsDay = text.slice(0, 10);
  const exists = !Number.isNaN(date.getTime()) && new Date(itsDay).toISOString().startsWith(itsDay);
  return (day || time) && exists ? date : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How long an old secret signs beside the new one, in milliseconds. */
export function overlapOption(): Option {
  const option = new Option(
    "--overlap <duration>",
    "such as 30m, 24h or 7d; 0h ends the use of the old secret at once",
  );
  return option.default(DEFAULT_OVERLAP_MS, "24h").argParser((text) => {
    const [, number, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
    const milliseconds = Number(number) * (UNIT_MS[unit] ?? Number.NaN);
    if (milliseconds <= MAX_OVERLAP_MS) return milliseconds;
    throw new InvalidArgumentError(
      "It must be minutes, hours or days, such as 30m, 24h or 7d, and at most 30d.",
    );
  });
}

/** The option that names a customer. Its value is not recorded, because the record of commands can't be erased. */
export const REFERENCE_OPTION = "--reference";

/** The arguments of a command as they may be recorded. */
export function toRecordable(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    if (args[index - 1] === REFERENCE_OPTION) return "(not recorded)";
    return arg.startsWith(`${REFERENCE_OPTION}=`) ? `${REFERENCE_OPTION}=(not recorded)` : arg;
  });
}
