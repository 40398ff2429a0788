import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { PartResult } from "../../proofs/bench/lib/figure.ts";
import { hasPlot, plot } from "../../proofs/bench/lib/plot.ts";

const PLOTS = "docs/performance";
const { parts }: { parts: PartResult[] } = JSON.parse(await readFile(`${PLOTS}/results.json`, "utf8"));
const drawn = parts.filter(({ figures }) => figures.some(hasPlot));

describe("the plots of the performance page", () => {
  test("show the results that are saved", async () => {
    const files = (await readdir(PLOTS)).filter((name) => name.endsWith(".svg"));

    expect(files).toEqual(drawn.map(({ part }) => `${part}.svg`).toSorted());
    for (const { part, figures } of drawn) {
      expect(await readFile(`${PLOTS}/${part}.svg`, "utf8"), part).toBe(plot(figures));
    }
  });

  test.each(drawn)("have a legend, an axis, and a line at the target: $part", ({ figures }) => {
    for (const figure of figures.filter(hasPlot)) {
      const svg = plot([figure]);

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

    expect(single && plot([single])).toBe("");
  });

  test("keep every point and label within the picture", () => {
    for (const { part, figures } of drawn) {
      const xs = Array.from(plot(figures).matchAll(/\bc?x[12]?="([\d.]+)"/g), ([, x]) => Number(x));

      expect(Math.min(...xs), part).toBeGreaterThanOrEqual(0);
      expect(Math.max(...xs), part).toBeLessThanOrEqual(360);
    }
  });
});
