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
  figures: Figure[];
  notes: string[];
}

/** Says whether what was to be reached is; a blank where nothing was. */
export function toMark({ target, reached }: Pick<Figure, "target" | "reached">): string {
  if (target === "–") return " ";
  return reached ? "✓" : "✗";
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
