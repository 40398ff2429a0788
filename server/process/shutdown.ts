import pTimeout from "p-timeout";
import type { Logger } from "pino";

/**
 * Stops the parts of a server that have started, in order. Never rejects: a part that can't be stopped must not keep the others open.
 * A signal calls it (`shutdown-signals.ts`); `server/http/http-server.ts` waits for the requests in flight.
 */
export async function stopParts(
  running: RunningParts,
  { drainMs, logger }: { drainMs: number; logger: Logger },
): Promise<void> {
  const warn = (error: unknown) => logger.warn({ err: error }, "did not stop in order");
  const stopStep = (step: readonly PartName[]) =>
    Promise.all(step.map((name) => running[name]?.stop().catch(warn)));
  const stopWork = async () => {
    for (const step of STOP_WORK) await stopStep(step);
  };
  await stopStep(STOP_FIRST);
  // Work that waits for an unresponsive database ends when its connections are closed below.
  const limit = { milliseconds: drainMs + CUT_AFTER_MS, message: "work was still under way" };
  await pTimeout(stopWork(), limit).catch(warn);
  for (const step of STOP_LAST) await stopStep(step);
}

/** How much longer than requests in flight the other parts may take to stop, in milliseconds. */
const CUT_AFTER_MS = 500;

/** Before any part stops, the server serves until balancers have noticed. */
const STOP_FIRST = ["readiness"] as const;

/** The parts that accept and do work, in the order in which they stop: those of one line together, line after line. */
const STOP_WORK = [
  ["http", "webhooks", "dispatching", "dueScan", "payouts", "sharedClock", "vacuum", "retention"],
  // Requests in flight have used them until now.
  ["access", "blocks", "rateLimiter", "restoreWatch"],
] as const;

/** The parts that these use, in the order in which they stop afterwards. */
const STOP_LAST = [["metrics", "probes"], ["database"]] as const;

type PartName = (typeof STOP_WORK | typeof STOP_LAST | readonly [typeof STOP_FIRST])[number][number];
export type RunningParts = { [Name in PartName]?: { stop(): Promise<void> } | undefined };
