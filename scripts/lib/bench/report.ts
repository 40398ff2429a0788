import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { type Figure, type PartResult, round, toMark } from "./figure.ts";
import { plot } from "./plot.ts";

const RESULTS = ".cache/bench";
const PAGE = "docs/performance.md";
const PLOTS = "docs/performance";
const BEGIN = "<!-- figures: written by npm run bench -- --save -->";
const END = "<!-- end of figures -->";

/** What the figures depend on beside the code. */
export function describeMachine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  const versions = ["express", "pg", "@electric-sql/pglite", "pg-boss", "undici"].map(
    (name) => `${name} ${versionOf(name)}`,
  );
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  return `${cpus().length} cores (${model}), ${gib} GiB, Node ${process.version}; ${versions.join(", ")}`;
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
}

/** What the parts have left, in the order given; a part that prints only leaves nothing. */
export async function readResults(parts: readonly string[]): Promise<PartResult[]> {
  const texts = await Promise.all(
    parts.map((part) => readFile(`${RESULTS}/${part}.json`, "utf8").catch(() => undefined)),
  );
  return texts.filter((text) => text !== undefined).map((text) => JSON.parse(text));
}

/** A table in Markdown. */
export function toTable(results: readonly PartResult[]): string {
  const rows = results.flatMap(({ figures }) => figures.map(toRow));
  return ["| figure | ours | against | ratio | to reach | |", "|---|---|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}

function toRow({ name, unit, value, against, ratio, target, reached }: Figure): string {
  const other = against ? `${against.name}: ${round(against.value)}` : "–";
  const cells = [
    name,
    `${round(value)} ${unit}`,
    other,
    ratio?.toFixed(2) ?? "–",
    target,
    toMark({ target, reached }),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Writes the results and their plots into the docs. */
export async function saveResults(results: readonly PartResult[]): Promise<void> {
  await mkdir(PLOTS, { recursive: true });
  const figures = results.map(({ figures: list, notes }) => ({ figures: list, notes }));
  await writeFile(
    `${PLOTS}/results.json`,
    `${JSON.stringify({ machine: describeMachine(), figures }, null, 2)}\n`,
  );
  for (const { part, figures: list } of results) await writeFile(`${PLOTS}/${part}.svg`, plot(list));
  const page = await readFile(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const date = new Date().toISOString().slice(0, 10);
  const body = `Measured on ${date}: ${describeMachine()}.\n\n${toTable(results)}\n${toNotes(results)}`;
  await writeFile(PAGE, `${before}${BEGIN}\n\n${body}\n${END}${after}`);
}

function toNotes(results: readonly PartResult[]): string {
  return results
    .flatMap(({ part, notes }) => [
      `![The rounds of ${part}](performance/${part}.svg)`,
      "",
      ...notes.map((note) => `- ${note}`),
      ...(notes.length > 0 ? [""] : []),
    ])
    .join("\n");
}
