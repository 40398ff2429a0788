import type { Readable } from "node:stream";
import type { CommandSettings } from "../config/store-settings.ts";
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
