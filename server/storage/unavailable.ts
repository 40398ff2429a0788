/** Classes of PostgreSQL's error codes: connection, insufficient resources, operator intervention. */
const UNAVAILABLE_CLASSES = ["08", "53", "57"];
const NETWORK_CODES = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"];
/** The pool and the driver tell these by their message alone. */
const DRIVER_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|PGlite is closed|cached plan must not change result type|driver has already been destroyed/;

/** Whether an error means that the database can't be used now, rather than that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    NETWORK_CODES.includes(code) ||
    (code.length === 5 && UNAVAILABLE_CLASSES.includes(code.slice(0, 2))) ||
    DRIVER_MESSAGES.test(error.message)
  );
}
