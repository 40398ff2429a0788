import { type DestinationStream, type Logger, pino } from "pino";

/** A log of one JSON object a line, without bodies, secrets and personal data. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, serializers: { err: toLoggedError } };
  return destination ? pino(options, destination) : pino(options);
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
