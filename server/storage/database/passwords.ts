import pg from "pg";

/** The password of a role, which may change while servers run. */
export type Passwords = {
  /** The one that was accepted last. */
  present(): string;
  /** Tries those that the file has now, after the present one was refused. */
  renew(): Promise<void>;
};

const REFUSED = "28P01";
const TIMEOUT_MS = 1_500;

/**
 * The passwords of a file with one or two addresses: while one replaces another, it has both.
 * @param readUrls reads the file
 */
export function createPasswords(readUrls: () => readonly string[]): Passwords {
  const passwordOf = (url = "") => new pg.Client({ connectionString: url }).password ?? "";
  let present = passwordOf(readUrls()[0]);
  let renewing: Promise<void> | undefined;
  async function find(): Promise<void> {
    for (const connectionString of readUrls()) {
      const client = new pg.Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS });
      client.on("error", () => {});
      try {
        await client.connect();
        present = passwordOf(connectionString);
        return;
      } catch {
        // The next one, or else the caller's next attempt reports it.
      } finally {
        client.end().catch(() => {});
      }
    }
  }
  return {
    present: () => present,
    renew() {
      // All connections are refused at once, and the first of them looks for the password.
      renewing ??= find().finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

/** The driver's client, with a password that may change; the one in its address would take precedence over one in its settings. */
export function clientWith(passwords: Passwords | undefined): typeof pg.Client {
  if (!passwords) return pg.Client;
  const password = passwords.present;
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      Object.assign(this, { password });
    }
  };
}

/** Connects, and once more with another password if the first was refused. */
export async function connectWith<Result>(passwords: Passwords | undefined, connect: () => Promise<Result>) {
  try {
    return await connect();
  } catch (error) {
    if (!passwords || (error as { code?: string }).code !== REFUSED) throw error;
    await passwords.renew();
    return connect();
  }
}
