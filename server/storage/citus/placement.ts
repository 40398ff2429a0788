import { repeatAfterConflicts } from "../database/conflicts.ts";
import { isUnavailable } from "../database/unavailable.ts";
import type { Statements } from "../statements/statements.ts";
import { byMerchant, type Divide } from "./batches.ts";
import { dividedBy } from "./citus.ts";
import { mergeShares } from "./claims.ts";
import type { Machine } from "./machine.ts";
import type { Machines } from "./machines.ts";

/**
 * These are about rows of one merchant, and need more than its machine: an advisory lock, which the coordinator has for all, or
 * a table that only the coordinator has.
 */
const BY_COORDINATOR = [
  "emitFurtherEvent",
  "emitResourceEvent",
  "insertSubscription",
  "recordErasedPayments",
  "recordErasure",
  "reconcileRefund",
  "resetMerchant",
];
/** These name a merchant, and need no rows of it. */
const WITHOUT_ROWS = ["hold", "insertFixtures", "insertToken", "release", "reportCalls"];
/** These have a list of several merchants, and choose the machine for each. */
const OF_SEVERAL = ["claimDeliveries", "findByRequestKeys", "loadOriginals", "recordAttempts", "saveRefunds"];

/** The statements of a server that has connections to the machines. */
export function withMachines(machines: Machines, kind: keyof Machine["stores"]): Statements {
  const divide: Divide = async (store, items) => {
    // A transaction of the coordinator has all that it changes.
    if (store.isTransaction) return byMerchant(store, items);
    const own = await Promise.all(items.map(({ merchant }) => machines.storeOf(merchant, kind)));
    const parts = Map.groupBy(items.entries(), ([index]) => own[index] ?? store);
    return [...parts].map(([machine, some]) => [machine, some.map(([, item]) => item)] as const);
  };
  const divided = dividedBy(divide);
  return {
    ...divided,
    batchKey: ({ merchant }) => machines.nameOf(merchant),
    findOverall: (store, query) => machines.ask(query.compile(store)),
    async readShares(store, { merchants, ...when }) {
      const groups = [...Map.groupBy(merchants, machines.nameOf).values()];
      const read = (some: string[]) => divided.readShares(store, { ...when, merchants: some });
      const results = await Promise.allSettled(groups.map((some) => repeatAfterConflicts(() => read(some))));
      const shares = results.flatMap((result) => {
        if (result.status === "fulfilled") return [result.value];
        if (isUnavailable(result.reason)) return []; // the deliveries of its merchants wait
        throw result.reason;
      });
      return mergeShares(shares, when.realNow);
    },
    storeOf: (merchant) => machines.storeOf(merchant, kind),
    async storeFor(name, [request]) {
      const merchant = merchantOf(request);
      if (merchant === undefined || [...WITHOUT_ROWS, ...OF_SEVERAL].includes(name)) return undefined;
      const own = await machines.storeOf(merchant, kind);
      return BY_COORDINATOR.includes(name) ? undefined : own;
    },
  };
}

function merchantOf(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null || !("merchant" in request)) return undefined;
  return typeof request.merchant === "string" ? request.merchant : undefined;
}
