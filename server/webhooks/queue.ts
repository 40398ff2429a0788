import { fromKysely, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Database } from "../storage/database.ts";
import type { Claim } from "../storage/delivery-claims.ts";
import type { Store } from "../storage/tables.ts";

/** Another name than that of 1.0.0, whose jobs are single deliveries: servers of both releases may run side by side. */
const QUEUE = "claimed-deliveries";
/** A worker also looks by itself, so that a notification that was missed costs a second at most. */
const WORK_OPTIONS = {
  batchSize: 3,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 1,
  notifyPollingIntervalSeconds: 1,
} as const;

/** A job costs the database about as much as a delivery: several of these share one, and few enough that replicas share them. */
const CLAIMS_PER_JOB = 16;

/** Jobs are done as soon as their attempts have begun; what is lost on the way comes again when its lease has run out. */
const QUEUE_OPTIONS = {
  notify: true,
  retryLimit: 0,
  expireInSeconds: 60,
  retentionSeconds: 3_600,
  deleteAfterSeconds: 60,
} as const;

/** What distributes the claimed deliveries among the workers of all servers. */
export type Queue = {
  /** Hands deliveries over, by the transaction that claims them. */
  insert(transaction: Store, claims: readonly Claim[]): Promise<void>;
  /** Calls a worker with what was handed over by any server, again when it has resolved. */
  work(handle: (claims: Claim[]) => Promise<void>): Promise<void>;
  /** Resolves when the worker's last call has. */
  stopWork(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the queue, in a schema of its own beside our tables. It keeps real time, whatever the sandbox's clock says (D30). */
export async function startQueue({ connection, embedded }: Database, logger: Logger): Promise<Queue> {
  const boss = new PgBoss({
    db: connection,
    backend: embedded ? "pglite" : "postgres",
    useListenNotify: true,
    schedule: false,
    monitorVacuum: !embedded, // the embedded store is vacuumed by us (vacuum.ts)
  });
  boss.on("error", (error) => logger.error({ err: error }, "webhook queue failed"));
  boss.on("warning", ({ message, data }) => logger.warn({ data }, message));
  const stop = () => boss.stop({ graceful: false, close: false });
  try {
    await boss.start();
    await boss.createQueue(QUEUE, QUEUE_OPTIONS);
    // Reads the queue's settings now: inside a transaction of the embedded store it would wait for its own end.
    await boss.insert(QUEUE, []);
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    async insert(transaction, claims) {
      const jobs = Array.from({ length: Math.ceil(claims.length / CLAIMS_PER_JOB) }, (_, index) => ({
        data: claims.slice(index * CLAIMS_PER_JOB, (index + 1) * CLAIMS_PER_JOB),
      }));
      await boss.insert(QUEUE, jobs, { db: fromKysely(transaction) });
    },
    async work(handle) {
      await boss.work<Claim[]>(QUEUE, WORK_OPTIONS, (jobs) => handle(jobs.flatMap((job) => job.data)));
    },
    stopWork: () => boss.offWork(QUEUE, { wait: true }),
    stop,
  };
}
