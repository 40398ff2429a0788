import { mkdir, writeFile } from "node:fs/promises";
import { createProgress } from "../../../../scripts/command/progress.ts";
import { type Figure, formatFigure } from "./figure.ts";

export const progress = createProgress(process.stderr);

/** At least five, so that one disturbed round doesn't change the median. */
const ROUNDS = 5;

export type Measure = () => Promise<number>;

interface Comparison {
  name: string;
  unit: string;
  ours: Measure;
  against: { name: string; measure: Measure };
  /** The least acceptable ratio of ours to theirs; with `atMost` the greatest. */
  target: { atLeast: number } | { atMost: number };
  /** A bound on our own figure, in addition to the ratio. */
  floor?: number;
}

/** Measures two things in turns, in alternating order, after a warm-up round that does not count. */
export async function compare(comparison: Comparison): Promise<Figure> {
  const { name, unit, ours, against, target, floor } = comparison;
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    progress.show(`${name}: ${round < 0 ? "warm-up" : `round ${round + 1} of ${ROUNDS}`}`);
    const first = round % 2 === 0 ? await ours() : undefined;
    const theirs = await against.measure();
    const result = { ours: first ?? (await ours()), theirs };
    if (round >= 0) rounds.push(result);
  }
  progress.clear();
  const value = median(rounds.map((round) => round.ours));
  const ratio = median(rounds.map((round) => round.ours / round.theirs));
  const within = "atLeast" in target ? ratio >= target.atLeast : ratio <= target.atMost;
  return {
    name,
    unit,
    value,
    against: { name: against.name, value: median(rounds.map((round) => round.theirs)) },
    ratio,
    target: targetText(target, floor),
    reached: within && (floor === undefined || value > floor),
    rounds: rounds.map((round) => [round.ours, round.theirs]),
  };
}

function targetText(target: Comparison["target"], floor: number | undefined): string {
  const ratio = "atLeast" in target ? `≥ ${target.atLeast} times` : `≤ ${target.atMost} times`;
  return floor === undefined ? ratio : `${ratio}, > ${floor}`;
}

/** A figure that stands alone: the median of several measurements, and a bound on it. */
export function single(
  name: string,
  unit: string,
  values: readonly number[],
  atMost: number | undefined,
): Figure {
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
