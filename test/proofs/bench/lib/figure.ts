/** A result of a benchmark. */
export interface Figure {
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
}

/** The results of one file of `test/proofs/bench`. */
export interface PartResult {
  part: string;
  /** The day, such as `2026-11-21`. */
  measured: string;
  figures: Figure[];
  notes: string[];
}

/** Says whether the target is met; a blank without a target. */
export function toMark({ target, reached }: Pick<Figure, "target" | "reached">): string {
  if (target === "–") return " ";
  return reached ? "✓" : "✗";
}

/** The target of a figure in its own unit: "≥ 2.5 times" of 400 is 1,000. Undefined without a target. */
export function targetOf({ target, unit, against }: Figure): { value: number; text: string } | undefined {
  const [, sign, number, times] = /^([≥≤]) ([\d.]+) ?(times)?/.exec(target) ?? [];
  if (sign === undefined || number === undefined) return undefined;
  if (!times) return { value: Number(number), text: `${sign} ${number} ${unit}` };
  const theirs = against?.value ?? 0;
  return { value: Number(number) * theirs, text: `${target.replace("times", "times the grey median")}` };
}

/** A figure without rounds, such as a percentile of a whole run or a size, as a sentence. */
export function toSentence({ name, unit, value, target, reached }: Figure): string {
  const wanted = target === "–" ? "" : `, which ${reached ? "meets" : "misses"} the target of ${target}`;
  return `${name}: ${round(value)} ${unit}${wanted}.`;
}

/** One line of a terminal. */
export function formatFigure({ name, unit, value, against, ratio, target, reached }: Figure): string {
  const compared = against ? ` · ${against.name} ${round(against.value)} · ${ratio?.toFixed(2)} times` : "";
  const wanted = target === "–" ? "" : ` (target: ${target})`;
  return `${toMark({ target, reached })} ${name}: ${round(value)} ${unit}${compared}${wanted}`;
}

/** More than three digits would be noise on these machines. */
export function round(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
