import { type Figure, round } from "./figure.ts";

const WIDTH = 720;
const ROW = 64;
const LEFT = 16;
const RIGHT = 130;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 } .small { font-size: 11px; fill: #59636e }
  .ours { fill: #0969da } .theirs { fill: #818b98 } .axis { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .ours { fill: #4493f8 } .axis { stroke: #3d444d }
  }`;

/** Every round of each figure as a point, ours above theirs, from nothing on: nearness shows how sure a figure is. */
export function plot(figures: readonly Figure[]): string {
  const height = figures.length * ROW + 8;
  const rows = figures.map((figure, index) => plotRow(figure, index * ROW)).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>${escapeXml(figures.map(describe).join("; "))}</title>
<style>${STYLE}
</style>
${rows}
</svg>
`;
}

function plotRow(figure: Figure, top: number): string {
  const greatest = Math.max(...figure.rounds.flat(), Number.MIN_VALUE);
  const x = (value: number) => (LEFT + (Math.max(0, value) / greatest) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const dots = figure.rounds.flatMap((values) =>
    values.map((value, index) => {
      const [kind, y] = index === 0 ? ["ours", top + 34] : ["theirs", top + 48];
      return `<circle class="${kind}" cx="${x(value)}" cy="${y}" r="4" fill-opacity="0.7"/>`;
    }),
  );
  return [
    `<text x="${LEFT}" y="${top + 20}">${escapeXml(figure.name)}</text>`,
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top + 41}" y2="${top + 41}"/>`,
    ...dots,
    `<text class="small" x="${WIDTH - RIGHT + 8}" y="${top + 38}">${round(figure.value)} ${figure.unit}</text>`,
    figure.against
      ? `<text class="small" x="${WIDTH - RIGHT + 8}" y="${top + 52}">${round(figure.against.value)}</text>`
      : "",
  ].join("\n");
}

function describe({ name, unit, value, against }: Figure): string {
  return `${name}: ${round(value)} ${unit}${against ? `, ${against.name} ${round(against.value)}` : ""}`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
