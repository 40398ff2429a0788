/** Classes of PostgreSQL's error codes: connection, insufficient resources, operator intervention. */
const UNAVAILABLE_CLASSES = ["08", "53", "57"];
/** A transaction was idle or lasted for too long; the server has become a replica that is only read. */
const UNAVAILABLE_CODES = ["25P03", "25P04", "25006"];
const NETWORK_CODES = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
];
const SILENCE = "Query read timeout";
/** The pool and the driver tell these by their message alone. */
const DRIVER_MESSAGES = new RegExp(
  [
    SILENCE,
    "timeout exceeded when trying to connect",
    "timeout expired",
    "Connection terminated",
    "Client has encountered a connection error",
    "Client was closed and is not queryable",
    "connection has been discarded",
    "PGlite is closed",
    "cached plan must not change result type",
    "driver has already been destroyed",
    "Cannot use a pool after calling end",
  ].join("|"),
);

/** Whether an error means that the database can't be used now, rather than that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    NETWORK_CODES.includes(code) ||
    UNAVAILABLE_CODES.includes(code) ||
    (code.length === 5 && UNAVAILABLE_CLASSES.includes(code.slice(0, 2))) ||
    DRIVER_MESSAGES.test(error.message)
  );
}

/** Whether the server has not answered a statement at all: the connection still waits for it. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === SILENCE;
}
