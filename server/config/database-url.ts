import pg from "pg";
import { ConfigError, type Environment, oneOf } from "./environment.ts";

/** The address of the PostgreSQL database; undefined when there is none. Throws {@link ConfigError}. */
export function readDatabaseUrl(env: Environment): string | undefined {
  // A file has two while the password changes.
  const [url] = env.DATABASE_URL?.split(/\r?\n/) ?? [];
  if (!url) return undefined;
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new ConfigError("DATABASE_URL must begin with postgres:// or be unset.");
  // The driver, unlike the standard, also reads an address with a user and no host, which names a socket of this machine.
  if (!URL.canParse(url.replace("@/", "@localhost/"))) {
    throw new ConfigError(
      "DATABASE_URL must be an address with one host, such as postgres://user@host:5432/name.",
    );
  }
  return url;
}

/** What decides who can read the traffic: where the driver connects to, and how. */
type DriverSettings = {
  /** A name, an address, or the folder of a local socket. */
  host: string;
  ssl: unknown;
};

const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Refuses to send payments and secrets over a network without TLS, unless the operator says that the network is safe. */
export function requireTls(databaseUrl: string, env: Environment): void {
  const allowed = oneOf(env, "DATABASE_ALLOW_PLAINTEXT", ["true", "false"] as const, "false") === "true";
  const { host, ssl } = readByDriver(databaseUrl);
  const isLocal = LOCAL_HOST.test(host) || host.startsWith("/"); // a folder means a local socket
  if (allowed || isLocal || isVerified(ssl)) return;
  throw new ConfigError(
    `DATABASE_URL must lead to verified TLS in production, because ${host} is another machine: end it with ?sslmode=verify-full, and name no other sslmode, no ssl and no uselibpqcompat. Where the network protects the connection, set DATABASE_ALLOW_PLAINTEXT=true.`,
  );
}

/**
 * Reads an address by the driver itself, with the PG… variables of the environment. Parameters can be repeated and change each
 * other's meaning, so another parser could be deceived.
 */
function readByDriver(databaseUrl: string): DriverSettings {
  try {
    return new pg.Client({ connectionString: databaseUrl });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // the driver's message may repeat the address with its password
    throw new ConfigError(
      `DATABASE_URL has parameters that the driver refuses${code ? ` (${code})` : ""}: correct its sslmode, and the files of sslrootcert, sslcert and sslkey.`,
    );
  }
}

/** Whether the driver ends a connection to a server that has no certificate for its name. */
function isVerified(ssl: unknown): boolean {
  if (ssl === true) return true;
  if (typeof ssl !== "object" || ssl === null) return false;
  // `sslmode=verify-ca` with `uselibpqcompat` replaces the comparison of the names.
  return !("checkServerIdentity" in ssl) && !("rejectUnauthorized" in ssl && ssl.rejectUnauthorized !== true);
}
