import { Gauge, type Registry } from "prom-client";
import type { Backlog } from "../storage/backlog.ts";
import type { PoolUsage } from "../storage/database.ts";

/** Whom to ask for what is so at the moment of reading. */
export interface GaugeSources {
  /** Rejects when the database can't answer. */
  backlog(): Promise<Backlog>;
  /** Undefined where there is no pool. */
  poolUsage(): PoolUsage | undefined;
  /** Undefined where no keys are fetched, or none were yet. */
  keysAgeSeconds(): number | undefined;
}

/** What is asked for when somebody reads it. What can't be known then is left out; `database_up` says why. */
export function registerGauges(registers: Registry[], sources: GaugeSources): void {
  registerBacklog(registers, sources);
  registerPool(registers, sources);
  registerKeys(registers, sources);
}

function registerBacklog(registers: Registry[], sources: GaugeSources): void {
  let reading: Promise<Backlog | undefined> | undefined;
  // The gauges are read at the same time, each by itself: they share one question to the database.
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
    help: "Deliveries that are not finished: due now, later, or in hand at some server.",
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
  gauge(
    "webhook_oldest_due_seconds",
    "How long the oldest due delivery that nobody has in hand has been due; 0 when none is.",
    (backlog) => backlog.oldestDeliverySeconds,
  );
  gauge(
    "refund_oldest_due_seconds",
    "How long the oldest refund that should be authorized has been due; 0 when none is.",
    (backlog) => backlog.oldestRefundSeconds,
  );
  new Gauge({
    name: "database_up",
    help: "Whether the database answers: 1 or 0.",
    registers,
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
}

function registerPool(registers: Registry[], { poolUsage }: GaugeSources): void {
  new Gauge({
    name: "database_pool_connections",
    help: "Connections of the pool in use and idle, and callers that wait for one.",
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

function registerKeys(registers: Registry[], { keysAgeSeconds }: GaugeSources): void {
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
