import type { Logger } from "pino";
import { repeat } from "../async/repeat.ts";
import type { Database } from "../storage/database/database.ts";

/** Reads the database's clock every few seconds. Between readings, `performance.now()` measures the time: it can't be set. */
export async function startSharedClock(parts: SharedClockParts): Promise<SharedClock> {
  const { database, ownNow, realNow, logger } = parts;
  if (realNow || database.embedded) return oneClock(parts);
  /** The database's time minus that of `performance.now()`, in milliseconds. */
  let aheadMs = Number.NEGATIVE_INFINITY;
  let reported: Difference = "small";

  const now = () => performance.now() + aheadMs;
  const skewMs = () => Math.round(Math.abs(ownNow().getTime() - now()));
  const isWrong = () => skewMs() >= SKEW_LIMIT_MS;

  async function read(): Promise<void> {
    const startedAt = performance.now();
    const databaseMs = (await database.readTime()).getTime();
    const endedAt = performance.now();
    // The database may have read its clock at any moment of the statement. Corrected only when it is certainly wrong, so that a slow
    // reading never turns time back.
    const [least, most] = [databaseMs - endedAt, databaseMs - startedAt];
    if (aheadMs < least || aheadMs > most) aheadMs = least;
    report();
  }

  /** Logs each change once. */
  function report(): void {
    let difference: Difference = skewMs() >= SKEW_WARNING_MS ? "large" : "small";
    if (isWrong()) difference = "too large";
    if (difference === reported) return;
    reported = difference;
    const details = { skewMs: skewMs(), isReady: difference !== "too large" };
    if (difference === "small") logger.info(details, "this server's clock and the database's agree again");
    else if (difference === "large") logger.warn(details, `${DIFFER}: set both by NTP`);
    else logger.error(details, `${DIFFER}: set both by NTP; until then it does no background work`);
  }

  await read();
  const { stop } = repeat(read, { name: "reading the database's clock", everyMs: EVERY_MS, logger });
  return {
    realNow: () => new Date(now()),
    skewSeconds: () => skewMs() / 1000,
    isWrong,
    async check() {
      await read();
      if (isWrong()) throw new Error(DIFFER);
    },
    stop,
  };
}

/** How often the database's clock is read, in milliseconds; in between, this process measures what has passed. */
const EVERY_MS = 5_000;

/** The difference between this machine's clock and the database's, in milliseconds, from which on it is logged. */
const SKEW_WARNING_MS = 5_000;
/** From this difference on the server is not ready, and does no background work: something is wrong with its machine. */
const SKEW_LIMIT_MS = 60_000;

/** The clock of the database, which all its servers share. */
export type SharedClock = {
  /** Never ahead of the database's clock, and behind it by at most the time that a reading takes. */
  realNow(): Date;
  /** The difference between this machine's clock and the database's, never negative. */
  skewSeconds(): number;
  /** Whether this machine's own clock differs so much from it that this server must not work in the background. */
  isWrong(): boolean;
  /** Reads the database's clock. Rejects when this machine's differs too much, or the database does not respond. */
  check(): Promise<void>;
  stop(): Promise<void>;
};

export type SharedClockParts = {
  database: Pick<Database, "embedded" | "readTime">;
  /** This machine's clock. */
  ownNow: () => Date;
  /** Tests: the time instead of the database's. */
  realNow?: (() => Date) | undefined;
  logger: Logger;
};

type Difference = "small" | "large" | "too large";

const DIFFER = "this server's clock and the database's differ";

/** The embedded store uses the clock of this machine. */
function oneClock({ database, ownNow, realNow }: SharedClockParts): SharedClock {
  return {
    realNow: realNow ?? ownNow,
    skewSeconds: () => 0,
    isWrong: () => false,
    async check() {
      await database.readTime();
    },
    stop: async () => {},
  };
}
