import pTimeout from "p-timeout";
import type { Logger } from "pino";
import type { Access } from "./auth/access.ts";
import type { Database } from "./storage/database.ts";

/** How long a readiness probe waits, in milliseconds: less than the timeout of those that send probes. */
const READY_LIMIT_MS = 3_000;

/** The difference between this server's clock and the database's, in milliseconds, from which on it is logged. */
const SKEW_WARNING_MS = 5_000;
/**
 * From this difference on the server is not ready: receivers would refuse the timestamps of its webhooks, and the server
 * would accept expired tokens.
 */
const SKEW_LIMIT_MS = 60_000;

export interface Readiness {
  /** Rejects while a request could not be authenticated or served, or the clocks differ too much. */
  check(): Promise<void>;
  /** Logs when this server's clock and the database's differ. Rejects when the database does not respond. */
  compareClocks(): Promise<void>;
}

export interface ReadinessParts {
  database: Database;
  access: Access;
  realNow: () => Date;
  logger: Logger;
}

export function createReadiness({ database, access, realNow, logger }: ReadinessParts): Readiness {
  /**
   * The least difference between the clocks, in milliseconds: the database may have read its own at any moment of the
   * statement.
   */
  async function readSkewMs(): Promise<number> {
    const startedAt = performance.now();
    const ours = realNow().getTime();
    const theirs = await database.readTime();
    const tookMs = performance.now() - startedAt;
    // The embedded store reads the clock of this machine.
    if (database.embedded) return 0;
    return Math.max(0, Math.abs(ours + tookMs / 2 - theirs.getTime()) - tookMs / 2);
  }

  return {
    async check() {
      const [skewMs] = await pTimeout(Promise.all([readSkewMs(), access.ready()]), {
        milliseconds: READY_LIMIT_MS,
        message: "the database or the token issuer does not respond",
      });
      if (skewMs >= SKEW_LIMIT_MS) throw new Error("this server's clock and the database's differ");
    },
    async compareClocks() {
      const skewMs = Math.round(await readSkewMs());
      if (skewMs < SKEW_WARNING_MS) return;
      const isReady = skewMs < SKEW_LIMIT_MS;
      logger.warn({ skewMs, isReady }, "this server's clock and the database's differ: set both by NTP");
    },
  };
}
