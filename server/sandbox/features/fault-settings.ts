import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { RequestBody } from "../../contract/operation-types.ts";
import type { Violation } from "../../contract/problem.ts";

/* The kinds of faults that a merchant can arm, such as `CLOSED_AFTER`, with the settings that each has. */

export type NewFault = RequestBody<"armFault">;
export type FaultKind = NewFault["kind"];
type Setting = "retryAfter" | "delayMs" | "hours";
type Settings = Readonly<Record<Setting, number | null>>;

const CALL_KINDS = [
  "UNAVAILABLE",
  "RATE_LIMITED",
  "INTERNAL_ERROR",
  "REFUNDS_HELD",
  "SLOW",
  "CLOSED_BEFORE",
  "CLOSED_AFTER",
  "TRUNCATED",
  "BAD_GATEWAY",
] as const satisfies readonly FaultKind[];
export type CallFaultKind = (typeof CALL_KINDS)[number];

/** The settings of each kind, with their defaults. */
const DEFAULTS: Partial<Record<FaultKind, Partial<Record<Setting, number>>>> = {
  UNAVAILABLE: { retryAfter: 1 },
  RATE_LIMITED: { retryAfter: 1 },
  SLOW: { delayMs: 5_000 },
  LATE: { hours: 1 },
};
const NO_SETTINGS: Settings = { retryAfter: null, delayMs: null, hours: null };

/** A fault as it was armed, without what it has done since. */
export type FaultPlan = Pick<
  SandboxSchemas["Fault"],
  "kind" | "times" | "operation" | "requestKey" | keyof Settings
>;

/** Whether a fault happens to calls; otherwise it happens to deliveries. */
export const isOfCalls = (kind: FaultKind): kind is CallFaultKind =>
  (CALL_KINDS as readonly FaultKind[]).includes(kind);

/** A fault with all its settings. The body is valid by its schema; `violationsOf` says whether its fields fit each other. */
export function toPlan({ kind, times = 1, operation, requestKey, ...set }: NewFault): FaultPlan {
  const settings = { ...NO_SETTINGS, ...DEFAULTS[kind], ...set };
  return { kind, times, operation: operation ?? null, requestKey: requestKey ?? null, ...settings };
}

/** What is wrong with a fault whose fields are each valid: those that its kind does not have. */
export function violationsOf(fault: NewFault): Violation[] {
  const { kind } = fault;
  const known = [
    "kind",
    "times",
    ...(isOfCalls(kind) ? ["operation", "requestKey"] : []),
    ...Object.keys(DEFAULTS[kind] ?? {}),
  ];
  return Object.keys(fault)
    .filter((name) => !known.includes(name))
    .map((name) => ({ pointer: `/${name}`, message: `is not a setting of ${kind}; leave it out` }));
}
