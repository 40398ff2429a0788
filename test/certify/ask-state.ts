import { setTimeout as pause } from "node:timers/promises";
import { CheckFailure, NotRun } from "../reporting/exchange.ts";
import type { Facts } from "./hooks.ts";
import type { ExamOptions } from "./options.ts";

/** The statuses of a refund that the contract has. */
export type Status = "PENDING" | "AUTHORIZED" | "TERMINAL_FAILED";

/** The pause between two questions to a system that has not worked on an event yet. */
const POLL_MS = 50;

/** What the merchant's system believes about a refund: its whole text, and the status in it. */
export type Belief = { readonly text: string; readonly status: Status | undefined };

/** Asks the merchant's system. Throws a `CheckFailure` when it gives no text, or a text with different statuses. */
export async function askState({ state }: ExamOptions, facts: Facts): Promise<Belief> {
  if (!state) throw new NotRun("give --state");
  const { text, problem } = await state(facts);
  if (problem !== undefined)
    throw new CheckFailure("--state to say what your system believes", { received: problem });
  const [status, ...others] = new Set(
    text.match(/\b(PENDING|AUTHORIZED|TERMINAL_FAILED)\b/g) as Status[] | null,
  );
  if (others.length > 0)
    throw new CheckFailure("--state to print one status, without those that the refund had before", {
      received: text,
    });
  return { text, status };
}

/** Asks again until the belief is as wanted or `--settle` is over, and resolves with the last belief. */
export async function untilBelief(options: ExamOptions, facts: Facts, isWanted: (belief: Belief) => boolean) {
  const end = performance.now() + options.settleMs;
  for (;;) {
    const belief = await askState(options, facts);
    if (isWanted(belief) || performance.now() >= end) return belief;
    await pause(POLL_MS);
  }
}

export function describeBelief({ text }: Belief): string {
  return text === "" ? "--state printed nothing" : `--state printed ${text}`;
}
