import pg from "pg";

/**
 * The password of a file with one or two addresses: while one password replaces another, it has both, and the one that was accepted
 * last is tried first.
 */
export function findPasswordIn(readUrls: () => readonly string[]): FindPassword {
  let urls = readUrls();
  let accepted = passwordOf(urls[0]);
  return async () => {
    try {
      urls = readUrls();
    } catch {
      // It is being written.
    }
    const present = urls.find((url) => passwordOf(url) === accepted);
    for (const url of present ? [present, ...urls] : urls) {
      if (urls.length > 1 && !(await isAccepted(url))) continue;
      accepted = passwordOf(url);
      break;
    }
    return accepted;
  };
}

/** Finds the password of a role, which may change while servers run; the driver asks for it when it connects. */
export type FindPassword = () => Promise<string>;

const TIMEOUT_MS = 1_500;

function passwordOf(url = ""): string {
  return new pg.Client({ connectionString: url }).password ?? "";
}

async function isAccepted(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS });
  client.on("error", () => {});
  return client
    .connect()
    .then(
      () => true,
      () => false,
    )
    .finally(() => void client.end().catch(() => {}));
}

/** The driver's client, with a password that may change; the one in its address would take precedence over one in its settings. */
export function clientWith(password: FindPassword | undefined): typeof pg.Client {
  if (!password) return pg.Client;
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      Object.assign(this, { password });
    }
  };
}
