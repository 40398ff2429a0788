import type { RequestHandler } from "express";
import { unavailable } from "./errors.ts";

/** How many calls may be at the store. */
export type Admission = {
  /** Runs one piece of work, or throws `UNAVAILABLE` at once. */
  admit<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether the next piece would be refused now. */
  isFull(): boolean;
};

/**
 * Admits so many calls to the store at a time. What is beyond would only wait, and hold memory: it is told to come again,
 * so that a server under too much load still does as much as it can.
 */
export function admitAtMost(limit: number): Admission {
  let running = 0;
  const isFull = () => running >= limit;
  return {
    isFull,
    async admit(work) {
      if (isFull()) throw unavailable();
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
}

/** Refuses a call before anything of it is read, while it would be refused at its end: so a refusal costs next to nothing. */
export function refuseExcess(isFull: () => boolean): RequestHandler {
  return (_request, _response, next) => {
    if (isFull()) throw unavailable();
    next();
  };
}
