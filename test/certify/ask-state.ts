/** Asks the merchant's system which status of a refund it knows, by the command or the URL of the options. */
import { setTimeout as pause } from "node:timers/promises";
import { CheckFailure, NotRun } from "../reporting/exchange.ts";
import type { Facts } from "./hooks.ts";
import type { ExamOptions } from "./options.ts";

/** The statuses of a refund that the contract has. */
export type Status = "PENDING" | "AUTHORIZED" | "TERMINAL_FAILED";

/** The pause between two questions to a system that has not worked on an event yet. */
const POLL_MS = 50;

/** What the merchant's system answers about a refund: its whole text, and the status in it. */
export type Answer = { readonly text: string; readonly status: Status | undefined };

/** Asks the merchant's system. Throws a `CheckFailure` when it gives no text, or a text with different statuses. */
export async function askState({ state }: ExamOptions, facts: Facts): Promise<Answer> {
  if (!state) throw new NotRun("give --state");
  const { text, problem } = await state(facts);
  if (problem !== undefined)
    throw new CheckFailure("--state to say what your system believes", { received: problem });
  const [status, ...others] = new Set(
    text.match(/\b(PENDING|AUTHORIZED|TERMINAL_FAILED)\b/g) as Status[] | null,
  );
  const expected = "--state to print one status, without those that the refund had before";
  if (others.length > 0) throw new CheckFailure(expected, { received: text });
  return { text, status };
}

/** Asks again until the answer is as wanted or `--settle` is over. Resolves with the last answer. */
export async function askUntil(options: ExamOptions, facts: Facts, isWanted: (answer: Answer) => boolean) {
  const end = performance.now() + options.settleMs;
  for (;;) {
    const answer = await askState(options, facts);
    if (isWanted(answer) || performance.now() >= end) return answer;
    await pause(POLL_MS);
  }
}

export function describeAnswer({ text }: Answer): string {
  return text === "" ? "--state printed nothing" : `--state printed ${text}`;
}
