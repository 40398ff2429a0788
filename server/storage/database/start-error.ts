import { ADMIN_COMMAND } from "../../config/environment.ts";

/** The store can't be used. The message says why and what to do, in one sentence each; the cause is for the log. */
export class StoreStartError extends Error {
  override readonly name = "StoreStartError";
}

export const FEW_CONNECTIONS =
  "The database has too few connections for a server, which needs 12 and uses up to 30: raise the connection limit of the user of DATABASE_URL or of the database, or max_connections.";

export const NO_SCHEMA =
  "The schema that search_path names does not exist. Create it: create schema refunds. Or correct search_path in DATABASE_URL, or as a setting of the role or the database.";

/** What to do about PostgreSQL's errors while connecting and migrating, by their codes. */
const REMEDIES: Readonly<Record<string, string>> = {
  "28P01": "PostgreSQL refuses the password. Correct the user and the password in DATABASE_URL.",
  "28000": "PostgreSQL refuses the user. Correct the user in DATABASE_URL, or let it in by pg_hba.conf.",
  "3D000": "The database does not exist. Create it, or correct its name in DATABASE_URL.",
  "3F000": NO_SCHEMA,
  "42704":
    "The database lacks what every new one has, such as the language plpgsql: create extension plpgsql.",
  "25006":
    "The database is read-only: it is a standby, or default_transaction_read_only is on for it or for the user of DATABASE_URL.",
  "53300": FEW_CONNECTIONS,
  "42501": `The user of DATABASE_URL lacks rights in the database. Run ${ADMIN_COMMAND} migrate as the user that owns the tables, and grant the others theirs.`,
};

/** Kysely's errors about migrations that this release does not know, which it distinguishes by their messages only. */
const NEWER_SCHEMA = /previously executed migration (\S+) is missing/;

/** A sentence that an operator can act on in place of an error of PostgreSQL; other errors unchanged. */
export function explainStartError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const [, migration] = NEWER_SCHEMA.exec(error.message) ?? [];
  if (migration !== undefined) {
    return new StoreStartError(
      `A newer release has migrated the database (${migration}). Start that release, or restore a backup from before into another database and name it in DATABASE_URL.`,
      { cause: error },
    );
  }
  if (/^SASL: .*password must be/.test(error.message))
    return new StoreStartError(
      "PostgreSQL asks for a password, and DATABASE_URL has none: name it, as in postgres://user:password@host/name.",
      { cause: error },
    );
  const remedy = "code" in error ? REMEDIES[String(error.code)] : undefined;
  return remedy === undefined ? error : new StoreStartError(remedy, { cause: error });
}
