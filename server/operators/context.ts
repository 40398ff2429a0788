import { createReadStream } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import type { CommandSettings } from "../config/store-settings.ts";
import { toDomainTime } from "../domain/clock.ts";
import { readOffset } from "../storage/database/deployment.ts";
import type { Database } from "../storage/database.ts";
import type { Output } from "./output.ts";

/** What a command works with. */
export type AdminContext = {
  settings: CommandSettings;
  database: Database;
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
  /** Keeps details of what was done in the record, beside the outcome; also when the command then fails. */
  report(details: object): void;
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
