import { ConfigError, type Environment } from "../config/read.ts";
import { readDatabaseUrl } from "../config.ts";
import { openDatabase } from "../storage/database.ts";
import { isUnavailable } from "../storage/unavailable.ts";
import { type Command, findCommand } from "./commands.ts";
import type { Output } from "./output.ts";
import { USAGE, UsageError } from "./usage.ts";

const output: Output = {
  print: (line) => void process.stdout.write(`${toOneLine(line)}\n`),
  complain: (line) => void process.stderr.write(`${toOneLine(line)}\n`),
  interactive: process.stderr.isTTY,
  write: (text) => void process.stderr.write(text),
};

const [name = "help", ...args] = process.argv.slice(2);
try {
  if (["help", "--help", "-h"].includes(name)) process.stdout.write(USAGE);
  else if (!(await run(findCommand(name), process.env))) process.exitCode = 1;
} catch (error) {
  output.complain(explain(error));
  process.exitCode = 1;
}

async function run(command: Command, env: Environment): Promise<boolean> {
  const databaseUrl = readDatabaseUrl(env.DATABASE_URL);
  if (!databaseUrl) {
    throw new ConfigError(
      "DATABASE_URL is required (postgres://…). An embedded store belongs to the one server that has it open: there, use the calls of the sandbox.",
    );
  }
  const interrupted = new AbortController();
  // Once: a second signal ends a command that hangs.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const database = await openDatabase({ databaseUrl, dataDir: "" });
  try {
    return await command({ env, database, output, stdin: process.stdin, signal: interrupted.signal }, args);
  } finally {
    await database.close();
    process.stdin.destroy();
  }
}

/** What others have put into the database must not steer the operator's terminal. */
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
