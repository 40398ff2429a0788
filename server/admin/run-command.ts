import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { Readable } from "node:stream";
import { CommanderError } from "commander";
import { ConfigError, type Environment } from "../config/environment.ts";
import { readCommandSettings } from "../config/store-settings.ts";
import { createLogger } from "../log/logger.ts";
import { type AdminAction, recordAdminAction } from "../storage/admin-actions.ts";
import { StoreStartError } from "../storage/database/start-error.ts";
import { isUnavailable } from "../storage/database/unavailable.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { createProgram } from "./commands.ts";
import type { Work } from "./context.ts";
import type { Output } from "./output.ts";

export type AdminOptions = {
  /** The command's name, and its arguments. */
  args: readonly string[];
  env: Environment;
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
  /** Milliseconds that one statement may take. */
  statementMs?: number;
};

/** More than a server allows: a list may read many rows, and no caller waits for it. */
const STATEMENT_MS = 60_000;

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
      succeeded = await runWork(work, { statementMs, ...options });
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

function printLines(text: string, print: (line: string) => void): void {
  for (const line of text.trimEnd().split("\n")) print(toOneLine(line));
}

async function runWork(work: Work, options: AdminOptions & { statementMs: number }): Promise<boolean> {
  const { env, output, stdin, signal, statementMs } = options;
  const settings = readCommandSettings(env);
  const { databaseUrl } = settings;
  const database = await openDatabase({ databaseUrl, dataDir: "", limits: { statementMs } });
  try {
    const context = { settings, database, output: withoutControls(output), stdin, signal };
    return await recorded(() => work(context), database, options);
  } finally {
    await database.close();
  }
}

/** Runs a command between two rows in the record of what operators did, and two lines of the log that say the same. */
async function recorded(
  run: () => Promise<boolean>,
  { db }: Database,
  { args, env, output }: AdminOptions,
): Promise<boolean> {
  const logger = createLogger("info", { write: (line) => output.log(line.trimEnd()) });
  const action = { runId: randomUUID(), operator: toOperator(env), command: args };
  const record = (outcome: AdminAction["outcome"]) => {
    logger.info({ ...action, outcome }, "admin");
    return recordAdminAction(db, { ...action, outcome });
  };
  await record("begun");
  try {
    const succeeded = await run();
    await record(succeeded ? "succeeded" : "refused");
    return succeeded;
  } catch (error) {
    // The database may be what has failed; then the log alone says how the command ended.
    await record("failed").catch(() => {});
    throw error;
  }
}

/** Who runs the command: ADMIN_OPERATOR where people share an account, and otherwise the account and the machine. */
function toOperator({ ADMIN_OPERATOR }: Environment): string {
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
