import { Counter, Gauge, type Registry } from "@prometheus-io/client";

type Backlog = {
  readonly deliveries: { readonly due: number; readonly later: number; readonly inHand: number };
  /** Live subscriptions, by how their receivers responded last. */
  readonly subscriptions: Readonly<Record<"responding" | "silent" | "unproven", number>>;
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
  poolUsage(): Readonly<Record<"inUse" | "idle" | "waiting", number>> | undefined;
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

/** Gauges are read at each scrape. Without a database, its gauges are left out, and `database_up` is 0. */
export function registerGauges(registers: Registry[], sources: GaugeSources): void {
  registerBacklog(registers, sources);
  registerLastCheck(registers, sources);
  registerPool(registers, sources);
  registerWaiting(registers, sources);
  registerKeys(registers, sources);
  registerClock(registers, sources);
}

function registerBacklog(registers: Registry[], sources: GaugeSources): void {
  let reading: Promise<Backlog | undefined> | undefined;
  // A scrape collects all gauges at once: they share one query.
  const read = () => {
    reading ??= sources
      .backlog()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const gauge = (name: string, help: string, pick: (backlog: Backlog) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const backlog = await read();
        this.remove();
        if (backlog) this.set(pick(backlog));
      },
    });

  new Gauge({
    name: "webhook_deliveries",
    help: "Unfinished deliveries: due now, due later, or leased by a server.",
    labelNames: ["state"],
    registers,
    async collect() {
      const backlog = await read();
      this.reset();
      if (!backlog) return;
      this.set({ state: "due" }, backlog.deliveries.due);
      this.set({ state: "later" }, backlog.deliveries.later);
      this.set({ state: "in_hand" }, backlog.deliveries.inHand);
    },
  });
  new Gauge({
    name: "webhook_subscriptions",
    help: "Live subscriptions: the latest attempt had a quick response, timed out or was slow, or has not ended yet.",
    labelNames: ["state"],
    registers,
    async collect() {
      const backlog = await read();
      this.reset();
      for (const [state, count] of Object.entries(backlog?.subscriptions ?? {})) this.set({ state }, count);
    },
  });
  gauge(
    "webhook_oldest_due_seconds",
    "Time for which the oldest unleased delivery has been due; 0 without one.",
    (backlog) => backlog.oldestDeliverySeconds,
  );
  gauge(
    "refund_oldest_due_seconds",
    "Time for which the oldest refund to authorize has been due; 0 without one.",
    (backlog) => backlog.oldestRefundSeconds,
  );
  new Gauge({
    name: "database_up",
    help: "Whether the database can be read: 1 or 0.",
    registers,
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
  new Gauge({
    name: "database_writable",
    help: "Whether the database takes writes: 1 or 0.",
    registers,
    async collect() {
      this.set(
        await sources.checkWrites().then(
          () => 1,
          () => 0,
        ),
      );
    },
  });
}

function registerLastCheck(registers: Registry[], { lastCheck }: GaugeSources): void {
  const gauge = (name: string, help: string, value: "differences" | "ageSeconds") =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const last = await lastCheck().catch(() => undefined);
        this.remove();
        if (last) this.set(last[value]);
      },
    });
  gauge("check_differences", "Differences that the last comparison of all records found.", "differences");
  gauge("check_age_seconds", "Time since the last comparison of all records ended.", "ageSeconds");
}

function registerPool(registers: Registry[], { poolUsage }: GaugeSources): void {
  new Gauge({
    name: "database_pool_connections",
    help: "Connections of the pool in use and idle, and requests that wait for one.",
    labelNames: ["state"],
    registers,
    collect() {
      const usage = poolUsage();
      if (!usage) return;
      this.set({ state: "in_use" }, usage.inUse);
      this.set({ state: "idle" }, usage.idle);
      this.set({ state: "waiting" }, usage.waiting);
    },
  });
}

function registerWaiting(registers: Registry[], sources: GaugeSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge("http_requests_in_flight", "Requests of operations under way.", sources.requestsInFlight);
  gauge("refunds_waiting_for_locks", "Refunds that wait alone for a locked payment.", sources.refundsWaiting);
}

function registerClock(registers: Registry[], { clockSkewSeconds }: GaugeSources): void {
  new Gauge({
    name: "clock_skew_seconds",
    help: "Difference between this machine's clock and the database's, never negative.",
    registers,
    collect() {
      this.set(clockSkewSeconds());
    },
  });
}

function registerKeys(registers: Registry[], { keysAgeSeconds, failedKeyFetches }: GaugeSources): void {
  new Counter({
    name: "auth_keys_failed_fetches_total",
    help: "Fetches of the token issuer's keys that failed.",
    registers,
    collect() {
      this.reset();
      this.inc(failedKeyFetches() ?? 0);
    },
  });
  new Gauge({
    name: "auth_keys_age_seconds",
    help: "Time since the token issuer's keys were fetched.",
    registers,
    collect() {
      const age = keysAgeSeconds();
      this.remove();
      if (age !== undefined) this.set(age);
    },
  });
}
