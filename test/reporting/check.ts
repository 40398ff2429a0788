/** What a check of a kit is: an id, a name, the clauses that require it, and a function that throws when it fails. */
import { toFlag } from "./option-readers.ts";

/** A precondition of a check: the option that satisfies it, and whether that option is set. */
export type Precondition<Options> = {
  readonly option: string;
  isMet(options: Options): boolean;
};

/** The precondition that an option is set: `otherToken` is given by `--other-token`. */
export function given<Options>(name: keyof Options & string): Precondition<Options> {
  return {
    option: toFlag(name),
    isMet: (options) => options[name] !== undefined && options[name] !== false,
  };
}

/** One thing that users of the tested program rely on. */
export type Check<Options, Tools> = {
  /** Stable, for machines: `group.what`. */
  readonly id: string;
  readonly group: string;
  /** The behaviour of a conforming program, as the end of "the tested program …". */
  readonly name: string;
  /** Clauses of the interface (`7.5`) and decisions (`D09`) that require it; the most specific one comes first. */
  readonly sources: readonly string[];
  /** Public reports of the same defect, such as `owner/repository#1`. */
  readonly cases?: readonly string[];
  /** Checks whose failure has the same cause: after it, this one is not run. */
  readonly after?: readonly string[];
  /** The section of a guide that says how to correct a failure, such as `receiving-webhooks.md#rules-for-handlers`. */
  readonly guide?: string;
  readonly preconditions: readonly Precondition<Options>[];
  /** Throws a `CheckFailure` when the program behaves differently. */
  run(tools: Tools): Promise<void> | void;
};

/** The parts of a check that its group does not define. */
export type CheckParts<Options, Tools> = Omit<Check<Options, Tools>, "group" | "preconditions"> & {
  readonly preconditions?: readonly Precondition<Options>[];
};

export type Shared<Options> = {
  /** Checks whose failure has the same cause; the check itself may be in the list. */
  readonly after?: readonly string[];
  readonly preconditions?: readonly Precondition<Options>[];
  /** The section of a guide for those that name no other. */
  readonly guide?: string;
};

export function defineGroup<Options, Tools>(
  group: string,
  { preconditions = [], guide, after = [] }: Shared<Options>,
  checks: readonly CheckParts<Options, Tools>[],
): Check<Options, Tools>[] {
  return checks.map((check) => ({
    ...(guide !== undefined && { guide }),
    ...check,
    group,
    after: [...after, ...(check.after ?? [])],
    preconditions: [...preconditions, ...(check.preconditions ?? [])],
  }));
}
