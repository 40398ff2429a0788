import type { Statements } from "../statements/statements.ts";
import { IN_SHARDS } from "./all-merchants.ts";
import { citus } from "./citus.ts";
import type { Machine } from "./machine.ts";
import type { Machines } from "./machines.ts";

/**
 * These are about rows of one merchant, and need more than its machine: an advisory lock, which the coordinator has for all, or
 * a table that only the coordinator has.
 */
const BY_COORDINATOR = ["emitFurtherEvent", "emitResourceEvent", "insertSubscription", "resetMerchant"];
/** These name a merchant, and need no rows of it. */
const WITHOUT_ROWS = ["hold", "insertFixtures", "insertToken", "release", "reportCalls"];

/** The statements of a server that has connections to the machines. */
export function withMachines(machines: Machines, kind: keyof Machine["stores"]): Statements {
  return {
    ...citus,
    findOverall: (store, write) => machines.ask(write(IN_SHARDS).compile(store).sql),
    storeOf: (merchant) => machines.storeOf(merchant, kind),
    async storeFor(name, [request]) {
      const merchant = merchantOf(request);
      if (merchant === undefined || WITHOUT_ROWS.includes(name)) return undefined;
      const own = await machines.storeOf(merchant, kind);
      return BY_COORDINATOR.includes(name) ? undefined : own;
    },
  };
}

/** The merchant of a request, or of a list for which `batchKey` allows only one. */
function merchantOf(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null) return undefined;
  if ("claimLimits" in request) return merchantOf(request.claimLimits);
  const one: unknown = Array.isArray(request) ? request[0] : request;
  if (typeof one !== "object" || one === null || !("merchant" in one)) return undefined;
  return typeof one.merchant === "string" ? one.merchant : undefined;
}
