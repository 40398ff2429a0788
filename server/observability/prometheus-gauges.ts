import { Counter, Gauge, type Registry } from "@prometheus-io/client";

/** Adds the gauges, which are read at each scrape. Without a database, its gauges are left out, and `database_up` is 0. */
export function registerGauges(registers: Registry[], sources: GaugeSources): void {
  type Read<Value> = () => Value | undefined | Promise<Value | undefined>;
  /** A gauge that is left out while it has no value. */
  const gauge = (name: string, help: string, read: Read<number>) =>
    new Gauge({
      ...{ name, help, registers },
      async collect() {
        const value = await read();
        this.remove();
        if (value !== undefined) this.set(value);
      },
    });
  /** A gauge with a value for each state. */
  const states = (name: string, help: string, read: Read<Counts>) =>
    new Gauge({
      ...{ name, help, registers, labelNames: ["state"] },
      async collect() {
        const values = await read();
        this.reset();
        for (const [state, value] of Object.entries(values ?? {}))
          this.set({ state: state.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`) }, value);
      },
    });

  let reading: Promise<Backlog | undefined> | undefined;
  // A scrape collects all gauges at once: they share one query.
  const backlog = () => {
    reading ??= sources
      .backlog()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const isWritable = async () =>
    sources.checkWrites().then(
      () => 1,
      () => 0,
    );
  const lastCheck = () => sources.lastCheck().catch(() => undefined);

  states(
    "webhook_deliveries",
    "Unfinished deliveries: due now, due later, or leased by a server.",
    async () => (await backlog())?.deliveries,
  );
  states(
    "webhook_subscriptions",
    "Live subscriptions: the latest attempt had a quick response, timed out or was slow, or has not ended yet.",
    async () => (await backlog())?.subscriptions,
  );
  gauge(
    "webhook_oldest_due_seconds",
    "Time for which the oldest unleased delivery has been due; 0 without one.",
    async () => (await backlog())?.oldestDeliverySeconds,
  );
  gauge(
    "refund_oldest_due_seconds",
    "Time for which the oldest refund to authorize has been due; 0 without one.",
    async () => (await backlog())?.oldestRefundSeconds,
  );
  gauge("database_up", "Whether the database can be read: 1 or 0.", async () => ((await backlog()) ? 1 : 0));
  gauge("database_writable", "Whether the database takes writes: 1 or 0.", isWritable);
  gauge(
    "check_differences",
    "Differences that the last comparison of all records found.",
    async () => (await lastCheck())?.differences,
  );
  gauge(
    "check_age_seconds",
    "Time since the last comparison of all records ended.",
    async () => (await lastCheck())?.ageSeconds,
  );
  states(
    "database_pool_connections",
    "Connections of the pool in use and idle, and requests that wait for one.",
    sources.poolUsage,
  );
  gauge("http_requests_in_flight", "Requests of operations under way.", sources.requestsInFlight);
  gauge("refunds_waiting_for_locks", "Refunds that wait alone for a locked payment.", sources.refundsWaiting);
  gauge("auth_keys_age_seconds", "Time since the token issuer's keys were fetched.", sources.keysAgeSeconds);
  gauge(
    "clock_skew_seconds",
    "Difference between this machine's clock and the database's, never negative.",
    sources.clockSkewSeconds,
  );
  new Counter({
    name: "auth_keys_failed_fetches_total",
    help: "Fetches of the token issuer's keys that failed.",
    registers,
    collect() {
      this.reset();
      this.inc(sources.failedKeyFetches() ?? 0);
    },
  });
}

/** Counts by their states. */
type Counts = Readonly<Record<string, number>>;
type Backlog = {
  readonly deliveries: Counts;
  readonly subscriptions: Counts;
  readonly oldestDeliverySeconds: number;
  readonly oldestRefundSeconds: number;
};

/** Where gauges get their present values from. */
export type GaugeSources = {
  /** Rejects when the database can't be read. */
  backlog(): Promise<Backlog>;
  /** Rejects while the database refuses writes, or can't be read. */
  checkWrites(): Promise<void>;
  /** The result of the last `npm run admin -- check`, if there is one. Rejects when the database can't be read. */
  lastCheck(): Promise<{ readonly differences: number; readonly ageSeconds: number } | undefined>;
  /** Undefined where there is no pool. */
  poolUsage(): Counts | undefined;
  requestsInFlight(): number;
  /** How many refunds wait for locked payments, or for their turn to do so. */
  refundsWaiting(): number;
  /** Undefined where no keys are used, or before the first fetch. */
  keysAgeSeconds(): number | undefined;
  /** How often the keys could not be fetched, since the start; undefined where none are used. */
  failedKeyFetches(): number | undefined;
  /** Between this machine's clock and the database's. */
  clockSkewSeconds(): number;
};
