import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { Readable } from "node:stream";
import { CommanderError } from "commander";
import { type CommandSettings, readCommandSettings } from "../config/database-and-retention.ts";
import { ConfigError, type Environment } from "../config/environment.ts";
import { createLogger } from "../observability/logger.ts";
import { openDatabase, openUnmigrated } from "../storage/database/database.ts";
import { isUnavailable } from "../storage/database/database-errors.ts";
import { explainStartError, StoreStartError } from "../storage/database/start-error.ts";
import { openStore } from "../storage/open-store.ts";
import { createProgram } from "./admin-program.ts";
import { toRecordable, type Work } from "./command-context.ts";
import type { Output } from "./command-output.ts";
import {
  type AdminAction,
  prepareRecord,
  type RecordedAction,
  recordAdminAction,
} from "./statements/audit-record.ts";

/**
 * Runs a command, and resolves with the exit code: 0, 1 when something was refused or failed, or 2 when the command line is
 * wrong, which is then explained and followed by the usage. Never rejects.
 */
export async function runAdmin(options: AdminOptions): Promise<0 | 1 | 2> {
  const { output } = options;
  const args = options.args.length === 0 ? ["help"] : options.args;
  let succeeded = true;
  const program = createProgram(
    async (work, statementMs = STATEMENT_MS) => {
      succeeded = await runWork(work, { ...options, statementMs });
    },
    {
      writeOut: (text) => printLines(text, output.print),
      writeErr: (text) => printLines(text, output.complain),
    },
  );
  try {
    await program.parseAsync(args, { from: "user" });
    return succeeded ? 0 : 1;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // Commander has printed the error or the help
    output.complain(toOneLine(explain(error)));
    return 1;
  }
}

export type AdminOptions = {
  /** The command's name, and its arguments. */
  args: readonly string[];
  env: Environment;
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
};

/** More than a server allows: a list may read many rows, and no caller waits for it. */
const STATEMENT_MS = 60_000;

function printLines(text: string, print: (line: string) => void): void {
  for (const line of text.trimEnd().split("\n")) print(toOneLine(line));
}

/** Runs a command, and records its begin and its end in the database and in the log. */
async function runWork(work: Work, options: AdminOptions & { statementMs: number }): Promise<boolean> {
  const settings = readCommandSettings(options.env);
  const record = createRecorder(settings, options);
  await record("begun");
  try {
    const succeeded = await withDatabase(work, settings, { ...options, runId: record.runId });
    await record(succeeded ? "succeeded" : "refused");
    return succeeded;
  } catch (error) {
    // The database may be what has failed; then the log alone says how the command ended.
    await record("failed").catch(() => {});
    throw error;
  }
}

type WorkOptions = AdminOptions & { statementMs: number; runId: string };

async function withDatabase(
  work: Work,
  settings: CommandSettings,
  { output, stdin, signal, statementMs, runId }: WorkOptions,
): Promise<boolean> {
  const { databaseUrl } = settings;
  const limits = { statementMs, backgroundMs: statementMs };
  // The database keeps it with each change of the command.
  const settingsOfRun = `set refunds.run = '${runId}'`;
  const database = await openDatabase({ databaseUrl, dataDir: "", limits, settings: settingsOfRun });
  let close = database.close;
  try {
    const store = await openStore(database);
    close = store.close;
    return await work({ settings, database, store, output: withoutControls(output), stdin, signal });
  } finally {
    await close();
  }
}

/**
 * Records the states of one run. Each row has a connection of its own, because a migration comes after the first, and the one that the
 * command uses may be what has failed.
 */
function createRecorder({ databaseUrl }: CommandSettings, options: AdminOptions & { statementMs: number }) {
  const { args, env, output, statementMs } = options;
  const logger = createLogger("info", { write: (line) => output.log(line.trimEnd()) });
  const run = { runId: randomUUID(), note: toNote(env), command: toRecordable(args) };
  const record = async (outcome: AdminAction["outcome"]) => {
    const action = { ...run, outcome };
    let recorded: RecordedAction | undefined;
    try {
      await using connection = openUnmigrated(databaseUrl, { statementMs });
      await prepareRecord(connection.db);
      recorded = await recordAdminAction(connection.db, action);
    } catch (error) {
      throw explainStartError(error);
    } finally {
      logger.info({ ...action, ...recorded }, "admin");
    }
  };
  return Object.assign(record, { runId: run.runId });
}

/** Who runs the command, for people: ADMIN_OPERATOR, or else the account and the machine. The database knows its own user. */
function toNote({ ADMIN_OPERATOR }: Environment): string {
  return ADMIN_OPERATOR || `${accountName()}@${hostname()}`;
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `${process.getuid?.()}`; // an account without a name, as in some containers
  }
}

/** Control characters in stored data could change the operator's terminal, so they are printed as "?". */
function withoutControls(output: Output): Output {
  return {
    ...output,
    print: (line) => output.print(toOneLine(line)),
    complain: (line) => output.complain(toOneLine(line)),
  };
}

function toOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConfigError || error instanceof StoreStartError) return message;
  if (isUnavailable(error))
    return `The database can't be used: ${message}. Check DATABASE_URL, and run it again.`;
  if (error instanceof Error && "syscall" in error) return `${message}. Check the name of the file.`;
  return `Failed: ${message}. Completed changes stay; run it again.`;
}

/** Runs an operator's command in this process, whose exit code tells how it ended. */
export async function runAdminProcess(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  // `once`, so that a second signal ends a command that hangs.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  // The reader, such as `head`, has closed the pipe.
  process.stdout.on("error", () => interrupted.abort());

  process.exitCode = await runAdmin({
    args,
    env: process.env,
    output: {
      print: (line) => void process.stdout.write(`${line}\n`),
      complain: (line) => void process.stderr.write(`${line}\n`),
      // Also calls back when the reader has gone.
      flushed: () => new Promise((resolve) => process.stdout.write("", () => resolve())),
      log: (line) => void process.stderr.write(`${line}\n`),
    },
    stdin: process.stdin,
    signal: interrupted.signal,
  });
  // An open standard input would keep the process alive.
  process.stdin.destroy();
}
