import { mkdir, writeFile } from "node:fs/promises";
import { createProgress } from "../../../../scripts/command/progress.ts";
import type { Figure } from "./figure.ts";
import { formatFigure } from "./report.ts";

export const progress = createProgress(process.stderr);

/** At least five, so that one disturbed round doesn't change the median. */
const ROUNDS = 5;

export type Measure = () => Promise<number>;

type Sides = {
  name: string;
  unit: string;
  /** What ours is compared with. */
  against: string;
  /** The least acceptable ratio of ours to theirs. */
  atLeast?: number;
  /** The greatest acceptable one. */
  atMost?: number;
};

/** Measures two things in turns, in alternating order, after a warm-up round that does not count and begins with theirs. */
export async function inTurns<T>(
  name: string,
  ours: () => Promise<T>,
  theirs: () => Promise<T>,
): Promise<[ours: T, theirs: T][]> {
  const rounds: [T, T][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    showRound(name, round);
    const first = round % 2 === 0 ? await ours() : undefined;
    const their = await theirs();
    const result: [T, T] = [first ?? (await ours()), their];
    if (round >= 0) rounds.push(result);
  }
  progress.clear();
  return rounds;
}

/** The values of several rounds after a warm-up round, which does not count. */
export async function repeat<T>(name: string, measure: () => Promise<T>, rounds = ROUNDS): Promise<T[]> {
  const values: T[] = [];
  for (let round = -1; round < rounds; round += 1) {
    showRound(name, round);
    const value = await measure();
    if (round >= 0) values.push(value);
  }
  progress.clear();
  return values;
}

function showRound(name: string, round: number): void {
  progress.show(`${name}: ${round < 0 ? "warm-up" : `round ${round + 1}`}`);
}

export async function compare({
  ours,
  theirs,
  ...sides
}: Sides & { ours: Measure; theirs: Measure }): Promise<Figure> {
  return toComparison(sides, await inTurns(sides.name, ours, theirs));
}

export function toComparison(sides: Sides, rounds: readonly (readonly [number, number])[]): Figure {
  const { name, unit, against, atLeast = 0, atMost = Number.POSITIVE_INFINITY } = sides;
  const value = median(rounds.map(([ours]) => ours));
  const ratio = median(rounds.map(([ours, theirs]) => ours / theirs));
  return {
    name,
    unit,
    value,
    against: { name: against, value: median(rounds.map(([, theirs]) => theirs)) },
    ratio,
    target: targetText(sides),
    reached: ratio >= atLeast && ratio <= atMost,
    rounds: rounds.map(([ours, theirs]) => [ours, theirs]),
  };
}

function targetText({ atLeast, atMost }: Sides): string {
  if (atLeast !== undefined) return `≥ ${atLeast} times`;
  return atMost === undefined ? "–" : `≤ ${atMost} times`;
}

/** A figure that stands alone: the median of several measurements, and a bound on it. */
export function single(name: string, unit: string, values: readonly number[], atMost?: number): Figure {
  const value = median(values);
  return {
    name,
    unit,
    value,
    target: atMost === undefined ? "–" : `≤ ${atMost} ${unit}`,
    reached: atMost === undefined || value <= atMost,
    rounds: values.map((one) => [one]),
  };
}

/** Prints figures and writes them to the folder from which `npm run proof -- bench` collects them. */
export async function record(part: string, figures: readonly Figure[], notes: readonly string[] = []) {
  await mkdir(".cache/bench", { recursive: true });
  const measured = new Date().toISOString().slice(0, 10);
  await writeFile(`.cache/bench/${part}.json`, JSON.stringify({ part, measured, figures, notes }, null, 2));
  for (const figure of figures) console.log(formatFigure(figure));
  for (const note of notes) console.log(`  ${note}`);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param part such as 0.99 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** The median, the 99th percentile and the longest, as text. */
export function toSpread(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((part) => percentile(values, part).toFixed(0)).join(", ");
}
