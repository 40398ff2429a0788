/** The figures that a proof prints at its end, such as how many processes were killed. */
import { hash } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { TestContext } from "vitest";

/** The number of rounds, and the seed of the random choices; the command sets both. */
export const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 50);
export const SEED = Number(process.env.FAULT_SEED ?? 1);

/** The counts of a fault test. */
export type Figures = Readonly<Record<string, number>>;

/** Passes the figures of a fault to the command, which prints them all at the end. */
export function record(fault: string, figures: Figures): void {
  report(`${fault}: ${toText(figures)}`);
}

/** Skips a test, because this machine lacks a program for it, and records that. */
export function skipMissing({ skip }: Skipping, fault: string, program: string): never {
  report(`${fault}: not run, because ${program} is not installed`);
  return skip(`${program} is not installed`);
}

/** The part of a test's context that skips it. */
export type Skipping = Pick<TestContext, "skip">;

function report(line: string): void {
  if (process.env.FAULT_FIGURES) appendFileSync(process.env.FAULT_FIGURES, `${line}\n`);
  else console.log(line);
}

function toText(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${value} ${name}`)
    .join(", ");
}

/** Random numbers from 0 up to 1, the same for the same test on each run. */
export function createRandom(test: string): () => number {
  let drawn = 0;
  return () => hash("sha256", `${SEED} ${test} ${drawn++}`, "buffer").readUInt32BE() / 2 ** 32;
}

/** A share of all rounds for longer tests, at least one. */
export function roundsOf(share: number): number {
  return Math.max(1, Math.round(ROUNDS * share));
}
