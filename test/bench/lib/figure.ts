/** What a benchmark has found. */
export interface Figure {
  name: string;
  unit: string;
  /** The median of the rounds. */
  value: number;
  /** What was measured in the same run, in turns. */
  against?: { name: string; value: number };
  /** The median of the rounds' ratios of ours to theirs. */
  ratio?: number;
  /** What is to be reached; "–" for nothing. */
  target: string;
  reached: boolean;
  /** Ours of each round, and theirs. */
  rounds: number[][];
}

/** The results of one file of `test/bench`. */
export interface PartResult {
  part: string;
  /** The day, such as `2026-11-21`. */
  measured: string;
  figures: Figure[];
  notes: string[];
}

/** Says whether what was to be reached is; a blank where nothing was. */
export function toMark({ target, reached }: Pick<Figure, "target" | "reached">): string {
  if (target === "–") return " ";
  return reached ? "✓" : "✗";
}

/** What a figure has to reach, in its own unit: "≥ 2.5 times" of 400 is 1,000. Undefined when nothing is to be reached. */
export function targetOf({ target, unit, against }: Figure): { value: number; text: string } | undefined {
  const [, sign, number, times] = /^([≥≤]) ([\d.]+) ?(times)?/.exec(target) ?? [];
  if (sign === undefined || number === undefined) return undefined;
  if (!times) return { value: Number(number), text: `${sign} ${number} ${unit}` };
  const theirs = against?.value ?? 0;
  return { value: Number(number) * theirs, text: `${target.replace("times", "times the grey median")}` };
}

/** A figure without rounds, such as a percentile of a whole run or a size, as a sentence. */
export function toSentence({ name, unit, value, target, reached }: Figure): string {
  const wanted = target === "–" ? "" : `, which ${reached ? "reaches" : "misses"} the target of ${target}`;
  return `${name}: ${round(value)} ${unit}${wanted}.`;
}

/** One line of a terminal. */
export function formatFigure({ name, unit, value, against, ratio, target, reached }: Figure): string {
  const compared = against ? ` · ${against.name} ${round(against.value)} · ${ratio?.toFixed(2)} times` : "";
  const wanted = target === "–" ? "" : ` (to reach: ${target})`;
  return `${toMark({ target, reached })} ${name}: ${round(value)} ${unit}${compared}${wanted}`;
}

/** Three digits are more than these machines can tell apart. */
export function round(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
