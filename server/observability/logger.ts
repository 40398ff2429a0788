import pTimeout from "p-timeout";
import { type DestinationStream, type Logger, pino } from "pino";

/**
 * The log of this process, on its standard output. Neither a stalled reader nor a full disk stops the process.
 * @param format writes a line of JSON in another form; empty leaves it out
 */
export function openLog(level: string, format: (line: string) => string = (line) => line): ProcessLog {
  const stdout = pino.destination(STDOUT);
  stdout.on("error", () => {}); // without a listener a write error would end the process
  let closed = false;
  // A part of the server that stops late may still log, and writing to a closed stream fails.
  const write = (text: string) => {
    if (!closed && text !== "") stdout.write(text);
  };
  return {
    logger: createLogger(level, { write: (line) => write(format(line)) }),
    print: write,
    async close() {
      closed = true;
      const ended = new Promise<boolean>((resolve) => {
        for (const event of ["close", "error"]) stdout.once(event, () => resolve(true));
      });
      stdout.end();
      const isTaken = await pTimeout(ended, { milliseconds: LAST_LINES_MS, fallback: () => false });
      stdout.destroy(); // otherwise the exit would wait for a reader forever
      return isTaken;
    },
  };
}

/** Lines are written in batches, a tenth of a second late at most. Up to 16 MiB wait for a reader that has stopped reading. */
const STDOUT = { dest: 1, sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 2 ** 20 };

/** How long a process that ends waits until its last log lines are read, in milliseconds. */
const LAST_LINES_MS = 2_000;

export type ProcessLog = {
  readonly logger: Logger;
  /** Writes text for people among the lines of the log. */
  print(text: string): void;
  /** Writes the remaining lines; resolves with false when they are not read in time. Closes the log permanently. */
  close(): Promise<boolean>;
};

/** A log with one JSON object on each line, without bodies, secrets and personal data. */
export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino({ level, serializers: { err: toLoggedError } }, destination);
}

/** The logged fields of an error. Others are left out: the database's `detail`, for one, repeats whole rows. */
type LoggedError = {
  type: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: LoggedError;
};

/** How many nested causes are logged: an error may be its own cause. */
const MAX_DEPTH = 3;

function toLoggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: "not an error" };
  const { name: type, message, stack, cause } = error;
  return {
    type,
    message,
    ...("code" in error && { code: error.code }),
    stack,
    ...(cause !== undefined && depth < MAX_DEPTH && { cause: toLoggedError(cause, depth + 1) }),
  };
}
