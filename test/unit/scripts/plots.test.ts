import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import {
  drawPlot,
  hasPlot,
  type PartResult,
  RESULTS_FILE,
  readPicture,
} from "../../../scripts/docs/plots.ts";

const { parts }: { parts: PartResult[] } = JSON.parse(await readFile(RESULTS_FILE, "utf8"));
const drawn = parts.filter(({ figures }) => figures.some(hasPlot));

describe("the plots of the performance page", () => {
  test("are those that the page shows, drawn from the saved results", async () => {
    const page = await readFile("docs/performance.md", "utf8");
    const shown = [...page.matchAll(/\]\((performance\/[\w-]+\.svg)\)/g)].map(([, path]) => `docs/${path}`);

    expect(shown).toEqual(drawn.map(({ part }) => `docs/performance/${part}.svg`));
    expect(shown.map(readPicture)).toEqual(drawn.map(({ figures }) => drawPlot(figures)));
  });

  test.each(drawn)("have a legend, an axis, and a line at the target: $part", ({ figures }) => {
    for (const figure of figures.filter(hasPlot)) {
      const svg = drawPlot([figure]);

      const text = svg.replaceAll(/<[^>]+>\s*/g, " ").replaceAll(/\s+/g, " ");
      expect(text).toContain(`(median of ${figure.rounds.length} rounds)`);
      expect(svg.includes("target: ")).toBe(figure.target !== "–");
      expect(svg.includes('class="target"')).toBe(figure.target !== "–");
      expect(svg).toMatch(/<text class="small" text-anchor="start" x="8.0" y="\d+">0<\/text>/);
      expect(svg.match(/text-anchor="end"/g)).toHaveLength(1);
    }
  });

  test("draw nothing for a figure without rounds", () => {
    const [single] = parts.flatMap(({ figures }) => figures).filter((figure) => !hasPlot(figure));

    expect(single && drawPlot([single])).toBe("");
  });

  test("keep every point and label within the picture", () => {
    for (const { part, figures } of drawn) {
      const xs = Array.from(drawPlot(figures).matchAll(/\bc?x[12]?="([\d.]+)"/g), ([, x]) => Number(x));

      expect(Math.min(...xs), part).toBeGreaterThanOrEqual(0);
      expect(Math.max(...xs), part).toBeLessThanOrEqual(360);
    }
  });
});
