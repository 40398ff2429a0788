import { readFile, writeFile } from "node:fs/promises";
import { parse, stringify } from "yaml";
import type { Series } from "./programs.ts";

export const RULES = "server/operate/alerts.yaml";
const DASHBOARD = "server/operate/dashboard.json";

export type Rule = {
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
};
type Panel = {
  title: string;
  targets: { expr: string; legendFormat: string }[];
  gridPos: { x: number; y: number };
};

/** The picture that the guide shows; `npm run proof -- faults alerts` draws it anew where Prometheus is installed. */
const PICTURE = "docs/operate/dashboard.svg";
const [WIDTH, HEIGHT, GAP, COLUMNS] = [330, 104, 12, 2];
const COLOURS = ["#0969da", "#bc4c00", "#1a7f37", "#8250df", "#cf222e"];

export async function readRules(): Promise<{ rules: Rule[] }[]> {
  return parse(await readFile(RULES, "utf8")).groups;
}

/** The rules' windows and limits are hours and minutes: here each second counts as much as twenty. */
const SHORTENED: readonly (readonly [RegExp, string])[] = [
  [/\[6h\]/g, "[40s]"],
  [/\[1h\]/g, "[20s]"],
  [/\[30m\]/g, "[15s]"],
  [/\[15m\]/g, "[10s]"],
  [/\[5m\]/g, "[6s]"],
  [/> 60\b/g, "> 3"],
  [/"60\|60\.0"/g, '"1|1.0"'],
  [/> 1800\b/g, "> 4"],
  [/> 172800\b/g, "> 15"],
];

export const shorten = (query: string) =>
  SHORTENED.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), query);

/** The rules of the guide, with windows of seconds. */
export async function shortenRules(): Promise<string> {
  const groups = await readRules();
  for (const rule of groups.flatMap(({ rules }) => rules)) {
    rule.expr = shorten(rule.expr);
    if (rule.for) rule.for = "2s";
  }
  return stringify({ groups });
}

export async function readPanels(): Promise<Panel[]> {
  return JSON.parse(await readFile(DASHBOARD, "utf8")).panels;
}

/** Draws the panels of the dashboard from what Prometheus has stored. */
export async function drawDashboard(range: (query: string) => Promise<Series[]>): Promise<void> {
  const panels = await readPanels();
  const drawn: string[] = [];
  for (const [index, { title, targets }] of panels.entries()) {
    const lines: Line[] = [];
    for (const { expr, legendFormat } of targets)
      for (const series of await range(expr)) lines.push(toLine(series, legendFormat));
    const x = (index % COLUMNS) * (WIDTH + GAP) + GAP;
    const y = Math.floor(index / COLUMNS) * (HEIGHT + GAP) + GAP;
    drawn.push(`<g transform="translate(${x} ${y})">${drawPanel(title, lines)}</g>`);
  }
  const width = COLUMNS * (WIDTH + GAP) + GAP;
  const height = Math.ceil(panels.length / COLUMNS) * (HEIGHT + GAP) + GAP;
  await writeFile(
    PICTURE,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The dashboard during fifteen faults">
<style>text { font: 11px system-ui, sans-serif; fill: #1f2328 } .title { font-weight: 600 } .frame { fill: #f6f8fa } path { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .frame { fill: #151b23 } }</style>
${drawn.join("\n")}
</svg>
`,
  );
}

type Line = { name: string; points: (readonly [number, number])[] };

function toLine({ metric, values = [] }: Series, legend: string): Line {
  const points = values.map(([at, value]) => [at, Number(value)] as const);
  return {
    name: legend.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ""),
    points: points.filter(([, value]) => Number.isFinite(value)),
  };
}

function drawPanel(title: string, lines: readonly Line[]): string {
  const points = lines.flatMap(({ points }) => points);
  const times = points.map(([at]) => at);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(...points.map(([, value]) => value));
  const [left, top, right, bottom] = [8, 40, WIDTH - 8, HEIGHT - 8];
  const at = ([time, value]: readonly [number, number]) =>
    `${Math.round(left + ((time - from) / Math.max(to - from, 1)) * (right - left))} ${Math.round(bottom - (Math.max(value, 0) / (most || 1)) * (bottom - top))}`;
  const drawn = lines.map(
    ({ points }, index) =>
      `<path stroke="${COLOURS[index % COLOURS.length]}" d="M${points.map(at).join("L")}"/>`,
  );
  const legend = lines.map(
    ({ name }, index) => `<tspan fill="${COLOURS[index % COLOURS.length]}">${name} </tspan>`,
  );
  return `<rect class="frame" width="${WIDTH}" height="${HEIGHT}" rx="6"/><text class="title" x="8" y="16">${title}</text><text x="${right}" y="16" text-anchor="end">up to ${Number(most.toPrecision(3))}</text><text x="8" y="31">${legend.join("")}</text>${drawn.join("")}`;
}
