import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { Database } from "../storage/database.ts";

const EVERY_MS = 60_000;

/** The difference between this server's clock and the database's, in milliseconds, from which on it is logged. */
const SKEW_WARNING_MS = 5_000;
/**
 * From this difference on the server is not ready: receivers would refuse the timestamps of its webhooks, and the server
 * would accept expired tokens.
 */
const SKEW_LIMIT_MS = 60_000;

export type ClockCheck = {
  /** Rejects when the clocks differ too much, or the database does not respond. */
  check(): Promise<void>;
  stop(): Promise<void>;
};

export type ClockCheckParts = {
  database: Pick<Database, "embedded" | "readTime">;
  realNow: () => Date;
  logger: Logger;
};

/** Compares this server's clock with the database's, now and every minute, and logs when they differ. */
export async function startClockCheck({ database, realNow, logger }: ClockCheckParts): Promise<ClockCheck> {
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

  async function compare(): Promise<void> {
    const skewMs = Math.round(await readSkewMs());
    if (skewMs < SKEW_WARNING_MS) return;
    const isReady = skewMs < SKEW_LIMIT_MS;
    logger.warn({ skewMs, isReady }, "this server's clock and the database's differ: set both by NTP");
  }

  async function check(): Promise<void> {
    if ((await readSkewMs()) >= SKEW_LIMIT_MS) {
      throw new Error("this server's clock and the database's differ");
    }
  }

  await compare();
  const { stop } = repeat(compare, { name: "clock check", everyMs: EVERY_MS, logger });
  return { check, stop };
}
