import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { type Figure, type PartResult, round } from "./figure.ts";

const RESULTS = ".cache/bench";
/** The saved results, of which the table on the page is made. */
const RESULTS_FILE = "docs/performance/results.json";
const PAGE = "docs/performance.md";
const BEGIN = "<!-- figures: written by npm run proof -- bench --save -->";
const END = "<!-- end of figures -->";

/** The conditions of the measurement, besides the code. */
export function describeMachine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  const versions = ["express", "pg", "@electric-sql/pglite", "undici"].map(
    (name) => `${name} ${versionOf(name)}`,
  );
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${gib} GiB, Node ${process.version}; ${versions.join(", ")}`;
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
}

/** The results of the parts, in the given order; a part that only prints leaves none. */
export async function readResults(parts: readonly string[]): Promise<PartResult[]> {
  const texts = await Promise.all(
    parts.map((part) => readFile(`${RESULTS}/${part}.json`, "utf8").catch(() => undefined)),
  );
  return texts.filter((text) => text !== undefined).map((text) => JSON.parse(text));
}

/** A table in Markdown. */
export function toTable(results: readonly PartResult[]): string {
  const rows = results.flatMap(({ figures, measured }) => figures.map((figure) => toRow(figure, measured)));
  const head = ["| figure | ours | against | ratio | target | | measured |", "|---|---|---|---|---|---|---|"];
  return [...head, ...rows, ""].join("\n");
}

function toRow(figure: Figure, measured: string): string {
  const { name, unit, value, against, ratio, target, reached, rounds } = figure;
  const ours = `${round(value)} ${unit}${rangeOf(rounds.map(([own = 0]) => own))}`;
  const theirs = rangeOf(rounds.map(([, other = 0]) => other));
  const other = against ? `${against.name}: ${round(against.value)}${theirs}` : "–";
  const cells = [name, ours, other, ratio?.toFixed(2) ?? "–", target, toMark({ target, reached }), measured];
  return `| ${cells.join(" | ")} |`;
}

/** The lowest and the highest of several rounds: how certain their median is. */
function rangeOf(values: readonly number[]): string {
  return values.length > 1 ? ` (${round(Math.min(...values))} to ${round(Math.max(...values))})` : "";
}

/** Writes results into the docs, in the order of `known`. Parts that were not measured keep what was saved. */
export async function saveResults(results: readonly PartResult[], known: readonly string[]): Promise<void> {
  const saved: { machine: string; parts: PartResult[] } = JSON.parse(await readFile(RESULTS_FILE, "utf8"));
  const all = known.flatMap((name) => [...results, ...saved.parts].find(({ part }) => part === name) ?? []);
  const machine = describeMachine();
  await writeFile(RESULTS_FILE, `${JSON.stringify({ machine, parts: all }, null, 2)}\n`);
  const page = await readFile(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const body = `Measured on ${machine}.\n\n${toTable(all)}\n${toNotes(all)}`;
  await writeFile(PAGE, `${before}${BEGIN}\n\n${body}\n${END}${after}`);
}

/** The notes of each part, as a list of its own. */
function toNotes(results: readonly PartResult[]): string {
  const noted = results.filter(({ notes }) => notes.length > 0);
  return noted.map(({ notes }) => `${notes.map((line) => `- ${line}`).join("\n")}\n`).join("\n");
}

/** Says whether the target is met; a blank without a target. */
function toMark({ target, reached }: Pick<Figure, "target" | "reached">): string {
  if (target === "–") return " ";
  return reached ? "✓" : "✗";
}

/** One line of a terminal. */
export function formatFigure({ name, unit, value, against, ratio, target, reached }: Figure): string {
  const compared = against ? ` · ${against.name} ${round(against.value)} · ${ratio?.toFixed(2)} times` : "";
  const wanted = target === "–" ? "" : ` (target: ${target})`;
  return `${toMark({ target, reached })} ${name}: ${round(value)} ${unit}${compared}${wanted}`;
}
