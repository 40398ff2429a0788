import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { type Figure, type PartResult, round, toMark, toSentence } from "./figure.ts";
import { hasPlot, plot } from "./plot.ts";

const RESULTS = ".cache/bench";
const PAGE = "docs/performance.md";
const PLOTS = "docs/performance";
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

function toRow({ name, unit, value, against, ratio, target, reached }: Figure, measured: string): string {
  const other = against ? `${against.name}: ${round(against.value)}` : "–";
  const ours = `${round(value)} ${unit}`;
  const cells = [name, ours, other, ratio?.toFixed(2) ?? "–", target, toMark({ target, reached }), measured];
  return `| ${cells.join(" | ")} |`;
}

/**
 * Writes results and their plots into the docs, in the order of `known`. Parts that were not measured keep what was saved;
 * without any results only the plots and the table are written anew.
 */
export async function saveResults(results: readonly PartResult[], known: readonly string[]): Promise<void> {
  const file = `${PLOTS}/results.json`;
  const saved: { machine: string; parts: PartResult[] } = JSON.parse(await readFile(file, "utf8"));
  const all = known.flatMap((name) => [...results, ...saved.parts].find(({ part }) => part === name) ?? []);
  const machine = results.length > 0 ? describeMachine() : saved.machine;
  await writeFile(file, `${JSON.stringify({ machine, parts: all }, null, 2)}\n`);
  await savePlots(all);
  const page = await readFile(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const body = `Measured on ${machine}.\n\n${toTable(all)}\n${toNotes(all)}`;
  await writeFile(PAGE, `${before}${BEGIN}\n\n${body}\n${END}${after}`);
}

/** Draws the figures that have several rounds, and removes pictures that are no longer needed. */
async function savePlots(results: readonly PartResult[]): Promise<void> {
  for (const { part, figures } of results) {
    const drawn = plot(figures);
    if (drawn) await writeFile(`${PLOTS}/${part}.svg`, drawn);
    else await rm(`${PLOTS}/${part}.svg`, { force: true });
  }
}

function toNotes(results: readonly PartResult[]): string {
  return results
    .flatMap(({ part, figures, notes }) => {
      const lines = [...figures.filter((figure) => !hasPlot(figure)).map(toSentence), ...notes];
      return [
        ...(figures.some(hasPlot) ? [`![The rounds of ${part}](performance/${part}.svg)`, ""] : []),
        ...lines.map((line) => `- ${line}`),
        ...(lines.length > 0 ? [""] : []),
      ];
    })
    .join("\n");
}
