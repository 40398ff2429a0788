import { type DestinationStream, type Logger, pino } from "pino";

/**
 * How the process writes its log: some lines together, a tenth of a second late at most, and never in the way of a call. A
 * reader that has stopped reading loses lines from this many characters on.
 */
const STDOUT = { dest: 1, sync: false, minLength: 4_096, periodicFlush: 100, maxLength: 16 * 2 ** 20 };

/** A log of one JSON object a line, without bodies, secrets and personal data. Goes to the standard output. */
export function createLogger(
  level: string,
  destination: DestinationStream = pino.destination(STDOUT),
): Logger {
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
