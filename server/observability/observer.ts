import type { Outcome } from "../domain/delivery-outcome.ts";
import type { RefundStatus } from "../domain/refund-rules.ts";

/** How a call ended. */
export type RequestOutcome = {
  /** The path as the contract writes it, or "unknown": paths that callers invent would make too many series. */
  route: string;
  /** "aborted" when the caller had gone before the response was sent. */
  status: number | "aborted";
  milliseconds: number;
};

/** Why a request got no slot: too many requests are under way, in all or of the same merchant. */
export type Refusal = "full" | "merchant full";

type AttemptResult = { at: Date; outcome: Outcome; milliseconds: number };
type Attempt = { earlierAttempts: number; payload: string };

/** What the parts of a server report of their work, for metrics and for a sandbox. */
export type Observer = {
  observeRequest(outcome: RequestOutcome): void;
  /** Refunds took this status at this server. */
  countRefunds(status: RefundStatus, count: number): void;
  /** This server left due refunds for later, because somebody else had locked them. */
  countSkippedRefunds(count: number): void;
  /** An attempt to deliver has ended, and its result is stored. */
  observeAttempt(result: AttemptResult, attempt: Attempt): void;
  /** A request was refused because too many are under way. */
  countRefusal(reason: Refusal): void;
  /** A run of work in the background has ended without an error. */
  noteRun(name: string): void;
};

export const noObserver: Observer = {
  observeRequest() {},
  countRefunds() {},
  countSkippedRefunds() {},
  observeAttempt() {},
  countRefusal() {},
  noteRun() {},
};

export function observeAll(observers: readonly Partial<Observer>[]): Observer {
  const report = (name: keyof Observer) => {
    return (...args: unknown[]) => {
      for (const observer of observers) if (observer[name]) Reflect.apply(observer[name], observer, args);
    };
  };
  const names = Object.keys(noObserver) as (keyof Observer)[];
  return Object.fromEntries(names.map((name) => [name, report(name)])) as Observer; // it has every name
}
