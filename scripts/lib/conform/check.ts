import type { OperationId } from "../../../client/src/index.ts";
import type { Kit } from "./kit.ts";
import type { Need } from "./needs.ts";

/** One thing that whoever uses the service relies on. */
export interface Check {
  /** Stable, for machines: `group.what`. */
  readonly id: string;
  readonly group: string;
  /** What a conforming service does, as the end of "the service …". */
  readonly name: string;
  /** Clauses of the interface (`7.5`) and decisions (`D09`) that say so; the one that says most comes first. */
  readonly sources: readonly string[];
  readonly needs: readonly Need[];
  /** Throws a `CheckFailure` when the service does something else. */
  run(kit: Kit): Promise<void> | void;
}

/** What was sent. Texts hold no secrets any more. */
export interface Sent {
  readonly operation: OperationId | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the body, its text when it is none, or undefined when it is empty. */
  readonly body: unknown;
  readonly milliseconds: number;
}

export interface Exchange {
  readonly sent: Sent;
  readonly received: Received;
}

/** The service does something else than it should. */
export class CheckFailure extends Error {
  readonly expected: string;
  readonly sent: Sent | undefined;
  /** The answer, or why there is none. */
  readonly received: Received | string | undefined;
  /** Three in a row end the run. */
  readonly timedOut: boolean;

  constructor(
    expected: string,
    {
      sent,
      received,
      timedOut = false,
    }: { sent?: Sent; received?: Received | string; timedOut?: boolean } = {},
  ) {
    super(`expected ${expected}`);
    this.expected = expected;
    this.sent = sent;
    this.received = received;
    this.timedOut = timedOut;
  }
}

/** Thrown by a check that finds only as it runs that it can't be made. */
export class NotRun extends Error {}

/** Checks of one group: each is written as id, name, sources, what it does, and what it needs beside the group. */
export function defineGroup(group: string, needs: readonly Need[], checks: readonly Parts[]): Check[] {
  return checks.map((check) => ({ ...check, group, needs: [...needs, ...(check.needs ?? [])] }));
}

type Parts = Omit<Check, "group" | "needs"> & { readonly needs?: readonly Need[] };
