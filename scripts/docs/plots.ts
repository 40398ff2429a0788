import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../command/root.ts";

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

/** The saved results of the benchmarks, from which the build draws the plots. */
export const RESULTS_FILE = "docs/performance/results.json";
const PLOTS = "docs/performance/";

/** The source of a picture of the docs: a file of the repository, or a plot of the saved results. */
export function readPicture(path: string): string {
  if (!path.startsWith(PLOTS)) return readFileSync(join(ROOT, path), "utf8");
  const { parts }: { parts: PartResult[] } = JSON.parse(readFileSync(join(ROOT, RESULTS_FILE), "utf8"));
  const found = parts.find(({ part }) => path === `${PLOTS}${part}.svg`);
  if (!found) throw new Error(`${RESULTS_FILE} has no figures for ${path}`);
  return drawPlot(found.figures);
}

/** The width of a phone's screen, so that no text is scaled down until it is unreadable. */
const WIDTH = 360;
const LEFT = 8;
const RIGHT = 12;
const LINE = 17;
/** Letters that are certain to fit on a line, even the bold ones of names. */
const LETTERS = 46;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 } .small { font-size: 12px; fill: #59636e }
  .name { font-weight: 600 } .ours { fill: #0969da } .theirs { fill: #818b98 }
  .axis { stroke: #818b98 } .grid { stroke: #d1d9e0 } .target { stroke: #bc4c00; stroke-width: 2; stroke-dasharray: 5 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .ours { fill: #4493f8 } .theirs { fill: #9198a1 }
    .axis { stroke: #9198a1 } .grid { stroke: #3d444d } .target { stroke: #f0883e }
  }`;

/** Whether a figure has several rounds to draw; a single one has its row in the table only. */
export function hasPlot({ rounds }: Figure): boolean {
  return rounds.length > 1;
}

/**
 * Draws each figure with its legend, a point for every round, an axis from zero, and a line at the target. The closer the
 * points, the more certain the figure. Empty when no figure has more than one round.
 */
export function drawPlot(figures: readonly Figure[]): string {
  const parts: string[] = [];
  let top = 0;
  for (const figure of figures.filter(hasPlot)) {
    const drawn = drawFigure(figure, top);
    parts.push(drawn.svg);
    top = drawn.bottom;
  }
  if (parts.length === 0) return "";
  const title = escapeXml(figures.filter(hasPlot).map(describe).join("; "));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img">
<title>${title}</title>
<style>${STYLE}
</style>
${parts.join("\n")}
</svg>
`;
}

function drawFigure(figure: Figure, top: number): { readonly svg: string; readonly bottom: number } {
  const target = targetOf(figure);
  const ticks = ticksUpTo(Math.max(...figure.rounds.flat(), target?.value ?? 0));
  const end = ticks.at(-1) ?? 1;
  const x = (value: number) => (LEFT + (Math.max(0, value) / end) * (WIDTH - LEFT - RIGHT)).toFixed(1);

  const lines: string[] = [];
  let y = top + 20;
  for (const line of wrap(figure.name)) {
    lines.push(`<text class="name" x="${LEFT}" y="${y}">${escapeXml(line)}</text>`);
    y += LINE;
  }
  for (const { kind, text } of legendOf(figure)) {
    lines.push(symbolOf(kind, y));
    for (const line of wrap(text)) {
      lines.push(`<text class="small" x="${LEFT + 18}" y="${y}">${escapeXml(line)}</text>`);
      y += LINE;
    }
  }
  const base = y + (figure.against ? 36 : 20);
  for (const tick of ticks) {
    lines.push(`<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${y - 4}" y2="${base}"/>`);
    lines.push(
      `<text class="small" ${anchorOf(tick, end)} x="${x(tick)}" y="${base + 15}">${label(tick)}</text>`,
    );
  }
  lines.push(`<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}"/>`);
  if (target) {
    lines.push(
      `<line class="target" x1="${x(target.value)}" x2="${x(target.value)}" y1="${y - 8}" y2="${base}"/>`,
    );
  }
  for (const [ours, theirs] of figure.rounds) {
    if (ours !== undefined) lines.push(dot("ours", x(ours), y + 6));
    if (theirs !== undefined) lines.push(dot("theirs", x(theirs), y + 22));
  }
  return { svg: lines.join("\n"), bottom: base + 28 };
}

type Entry = { readonly kind: "ours" | "theirs" | "target"; readonly text: string };

function legendOf(figure: Figure): Entry[] {
  const { unit, value, against } = figure;
  const target = targetOf(figure);
  const entries: (Entry | undefined)[] = [
    {
      kind: "ours",
      text: `${against ? "ours: " : ""}${round(value)} ${unit} (median of ${figure.rounds.length} rounds)`,
    },
    against && { kind: "theirs", text: `${against.name}: ${round(against.value)}` },
    target && { kind: "target", text: `target: ${target.text}` },
  ];
  return entries.filter((entry) => entry !== undefined);
}

function symbolOf(kind: Entry["kind"], y: number): string {
  if (kind !== "target") return dot(kind, String(LEFT + 6), y - 4);
  return `<line class="target" x1="${LEFT}" x2="${LEFT + 14}" y1="${y - 4}" y2="${y - 4}"/>`;
}

function dot(kind: "ours" | "theirs", x: string, y: number): string {
  return `<circle class="${kind}" cx="${x}" cy="${y}" r="4.5" fill-opacity="0.7"/>`;
}

/** Zero and some round numbers, the last of which is not below `greatest`. */
function ticksUpTo(greatest: number): number[] {
  const rough = Math.max(greatest, Number.MIN_VALUE) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(greatest / step) + 1 }, (_, index) => index * step);
}

/** Keeps the outer labels within the picture. */
function anchorOf(tick: number, end: number): string {
  if (tick === 0) return 'text-anchor="start"';
  return tick === end ? 'text-anchor="end"' : 'text-anchor="middle"';
}

function label(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < LETTERS) lines.splice(-1, 1, `${last} ${word}`);
    else lines.push(word);
  }
  return lines;
}

function describe({ name, unit, value, against }: Figure): string {
  return `${name}: ${round(value)} ${unit}${against ? `, ${against.name} ${round(against.value)}` : ""}`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The target of a figure in its own unit: "≥ 2.5 times" of 400 is 1,000. Undefined without a target. */
function targetOf({ target, unit, against }: Figure): { value: number; text: string } | undefined {
  const [, sign, number, times] = /^([≥≤]) ([\d.]+) ?(times)?/.exec(target) ?? [];
  if (sign === undefined || number === undefined) return undefined;
  if (!times) return { value: Number(number), text: `${sign} ${number} ${unit}` };
  const theirs = against?.value ?? 0;
  return { value: Number(number) * theirs, text: `${target.replace("times", "times the grey median")}` };
}

/** More than three digits would be noise on these machines. */
export function round(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
