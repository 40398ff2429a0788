import type { Readable } from "node:stream";
import { ConfigError, type Environment } from "../config/read.ts";
import { readDatabaseUrl } from "../config.ts";
import { openDatabase } from "../storage/database.ts";
import { isUnavailable } from "../storage/unavailable.ts";
import { findCommand } from "./commands.ts";
import type { Output } from "./output.ts";
import { USAGE, UsageError } from "./usage.ts";

export interface AdminOptions {
  /** The command's name, and what follows it. */
  args: readonly string[];
  env: Environment;
  /** Where to write to; lines have no control characters when they come here, but for those of progress. */
  output: Output;
  stdin: Readable;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
  /** Milliseconds that one statement may take. */
  statementMs?: number;
}

/** A list may read far, and nobody else waits for it. */
const STATEMENT_MS = 60_000;

/** Runs a command, and resolves with the exit code: 0, or 1 when something was refused or failed. Never rejects. */
export async function runAdmin(options: AdminOptions): Promise<0 | 1> {
  const { args, output } = options;
  const [name = "help", ...more] = args;
  try {
    if (["help", "--help", "-h"].includes(name)) {
      for (const line of USAGE.trimEnd().split("\n")) output.print(line);
      return 0;
    }
    return (await run(name, more, options)) ? 0 : 1;
  } catch (error) {
    output.complain(toOneLine(explain(error)));
    return 1;
  }
}

async function run(
  name: string,
  args: string[],
  { env, output, stdin, signal, statementMs = STATEMENT_MS }: AdminOptions,
): Promise<boolean> {
  const command = findCommand(name);
  const databaseUrl = readDatabaseUrl(env.DATABASE_URL);
  if (!databaseUrl) {
    throw new ConfigError(
      "DATABASE_URL is required (postgres://…). An embedded store belongs to the one server that has it open: there, use the calls of the sandbox.",
    );
  }
  const database = await openDatabase({ databaseUrl, dataDir: "", limits: { statementMs } });
  try {
    return await command({ env, database, output: toPlain(output), stdin, signal }, args);
  } finally {
    await database.close();
  }
}

/** What others have put into the database must not steer the operator's terminal. */
function toPlain(output: Output): Output {
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
  if (error instanceof UsageError) return `${error.message} See: npm run admin -- help`;
  if (error instanceof ConfigError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  if (isUnavailable(error))
    return `The database can't be used: ${message}. Check DATABASE_URL, and run it again.`;
  if (error instanceof Error && "syscall" in error) return `${message}. Check the name of the file.`;
  return `Failed: ${message}. What was done before stays done; run it again.`;
}
