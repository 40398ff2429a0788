import type { Kit } from "./kit.ts";
import type { Precondition } from "./preconditions.ts";

/** One thing that users of the service rely on. */
export type Check = {
  /** Stable, for machines: `group.what`. */
  readonly id: string;
  readonly group: string;
  /** The behaviour of a conforming service, as the end of "the service …". */
  readonly name: string;
  /** Clauses of the interface (`7.5`) and decisions (`D09`) that require it; the most specific one comes first. */
  readonly sources: readonly string[];
  readonly preconditions: readonly Precondition[];
  /** Throws a `CheckFailure` when the service behaves differently. */
  run(kit: Kit): Promise<void> | void;
};

/** The parts of a check that its group does not define. */
export type CheckParts = Omit<Check, "group" | "preconditions"> & {
  readonly preconditions?: readonly Precondition[];
};

/** Checks of one group, which share its preconditions. */
export function defineGroup(
  group: string,
  preconditions: readonly Precondition[],
  checks: readonly CheckParts[],
): Check[] {
  return checks.map((check) => ({
    ...check,
    group,
    preconditions: [...preconditions, ...(check.preconditions ?? [])],
  }));
}
