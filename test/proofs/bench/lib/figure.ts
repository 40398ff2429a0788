/** A result of a benchmark. */
export type Figure = {
  name: string;
  unit: string;
  /** The median of the rounds. */
  value: number;
  /** The thing it was compared with, in turns in the same run. */
  against?: { name: string; value: number };
  /** The median of the rounds' ratios of ours to theirs. */
  ratio?: number;
  /** The target; "–" for none. */
  target: string;
  reached: boolean;
  /** Our figure of each round, and theirs. */
  rounds: number[][];
};

/** The results of one file of `test/proofs/bench`. */
export type PartResult = {
  part: string;
  /** The day, such as `2026-11-21`. */
  measured: string;
  figures: Figure[];
  notes: string[];
};

/** More than three digits would be noise on these machines. */
export function round(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
