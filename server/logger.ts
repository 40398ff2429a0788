import { type DestinationStream, type Logger, pino } from "pino";
import { inTime } from "./time-limit.ts";

/** Some lines are written together, a tenth of a second late at most. Where nobody reads for long, 16 MiB are kept. */
const STDOUT = { dest: 1, sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 2 ** 20 };

/** How long the end of the process waits for whoever reads the log, in milliseconds. */
const LAST_LINES_MS = 2_000;

export interface ProcessLog {
  readonly logger: Logger;
  /** Writes what is left; resolves with false when nobody takes it. Nothing can be logged any more. */
  close(): Promise<boolean>;
}

/** The log of this process, on its standard output. Neither a reader who has stopped reading nor a full disk stops the process. */
export function openLog(level: string): ProcessLog {
  const stdout = pino.destination(STDOUT);
  stdout.on("error", () => {}); // what can't be written is lost
  return {
    logger: createLogger(level, stdout),
    async close() {
      const ended = new Promise<boolean>((resolve) => {
        for (const event of ["close", "error"]) stdout.once(event, () => resolve(true));
      });
      stdout.end();
      const late = () => new Error("nobody reads the log");
      const isTaken = await inTime(ended, LAST_LINES_MS, late).catch(() => false);
      stdout.destroy(); // otherwise the exit itself waits for a reader, without end
      return isTaken;
    },
  };
}

/** A log of one JSON object a line, without bodies, secrets and personal data. */
export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino({ level, serializers: { err: toLoggedError } }, destination);
}

/** What is told of an error. Other fields of it are not: the database's `detail`, for one, repeats whole rows. */
interface LoggedError {
  type: string;
  message: string;
  code?: unknown;
  stack?: string | undefined;
  cause?: LoggedError;
}

/** Causes of causes are told up to here: an error may be its own cause. */
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
