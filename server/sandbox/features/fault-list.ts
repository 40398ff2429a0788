import { randomUUID } from "node:crypto";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import { invalidRequest } from "../../contract/problem.ts";
import type { Changes } from "./change-stream.ts";
import { type FaultPlan, isOfCalls, toPlan, violationsOf } from "./fault-settings.ts";

/** The faults that are armed, kept in memory. */
export type FaultList = {
  handlers: HandlersOf<"armFault" | "listFaults" | "clearFaults">;
  /** Takes the oldest fault that fits, once. It doesn't wait for anything, so two calls never share the last time of a fault. */
  take(occasion: Occasion): TakenFault | undefined;
  forget(merchant: string): void;
};

type Fault = SandboxSchemas["Fault"];
type FaultHit = SandboxSchemas["FaultHit"];

/** The latest so many faults of a merchant are kept, and so many hits of each. */
const [MAX_FAULTS, MAX_HITS] = [100, 20];

/** A call or a delivery that a fault may happen to. */
export type Occasion = { merchant: string } & (
  | { operation: string; requestKey: unknown; requestId: string }
  | { webhookId: string }
);

/** A fault that happens to a call or a delivery, which notes its statuses here as they come. */
export type TakenFault = {
  readonly plan: FaultPlan;
  note(status: number | null): void;
};

type Armed = Fault & {
  /** The deliveries that it happened to: it happens to each once. */
  readonly webhookIds: Set<string>;
};

/** @param realNow real time */
export function createFaultList(changes: Pick<Changes, "notify">, realNow: () => Date): FaultList {
  /** Of each merchant, the oldest first. */
  const faults = new Map<string, Armed[]>();
  const faultsOf = (merchant: string) => faults.get(merchant) ?? [];

  function take(occasion: Occasion): TakenFault | undefined {
    const fault = faultsOf(occasion.merchant).find((armed) => armed.remaining > 0 && fits(armed, occasion));
    if (!fault) return undefined;
    fault.remaining -= 1;
    const hit: FaultHit = { at: realNow().toISOString(), requestId: null, webhookId: null, statuses: [] };
    if ("webhookId" in occasion) {
      hit.webhookId = occasion.webhookId;
      fault.webhookIds.add(occasion.webhookId);
    } else hit.requestId = `urn:uuid:${occasion.requestId}`;
    fault.hits = [hit, ...fault.hits].slice(0, MAX_HITS);
    changes.notify(["requests"], occasion.merchant);
    return {
      plan: fault,
      note(status) {
        hit.statuses.push(status);
        changes.notify(["requests"], occasion.merchant);
      },
    };
  }

  const forget = (merchant: string) => {
    faults.delete(merchant);
    changes.notify(["requests"], merchant);
  };

  return {
    take,
    forget,
    handlers: {
      async armFault({ merchant, body }) {
        const violations = violationsOf(body);
        if (violations.length > 0) return invalidRequest(violations);
        const plan = toPlan(body);
        const armed = {
          faultId: `flt_${randomUUID()}`,
          remaining: plan.times,
          armedAt: realNow().toISOString(),
        };
        const fault: Armed = { ...armed, ...plan, hits: [], webhookIds: new Set() };
        faults.set(merchant, [...faultsOf(merchant), fault].slice(-MAX_FAULTS));
        changes.notify(["requests"], merchant);
        return { status: 201, body: toBody(fault) };
      },
      async listFaults({ merchant }) {
        return { status: 200, body: { items: faultsOf(merchant).toReversed().map(toBody) } };
      },
      async clearFaults({ merchant }) {
        forget(merchant);
        return { status: 204 };
      },
    },
  };
}

function fits(fault: Armed, occasion: Occasion): boolean {
  const { kind, operation, requestKey, webhookIds } = fault;
  if ("webhookId" in occasion) return !isOfCalls(kind) && !webhookIds.has(occasion.webhookId);
  return (
    isOfCalls(kind) &&
    (kind !== "REFUNDS_HELD" || occasion.operation === "issueRefund") &&
    (operation ?? occasion.operation) === occasion.operation &&
    (requestKey ?? occasion.requestKey) === occasion.requestKey
  );
}

function toBody({ webhookIds: _ids, ...fault }: Armed): Fault {
  return fault;
}
