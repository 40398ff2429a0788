import type { Page } from "playwright-core";

/** Texts of the page, as shown now, with less contrast than WCAG 2.2 (1.4.3, level AA) requires, each with its ratio. */
export function findFaintTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Color = [red: number, green: number, blue: number, alpha: number];

    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const faint: string[] = [];
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim();
      const element = walker.currentNode.parentElement;
      if (!text || !element?.checkVisibility() || element.getBoundingClientRect().width === 0) continue;
      const ratio = contrastOf(element);
      if (ratio < neededFor(getComputedStyle(element)))
        faint.push(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
    }
    return faint;

    function contrastOf(element: Element): number {
      const background = backgroundOf(element);
      const text = luminance(blend(parse(getComputedStyle(element).color), background));
      const [lighter, darker] = [text, luminance(background)].sort((a, b) => b - a) as [number, number];
      return (lighter + 0.05) / (darker + 0.05);
    }

    function neededFor({ fontSize, fontWeight }: CSSStyleDeclaration): number {
      const pixels = Number.parseFloat(fontSize);
      return pixels >= 24 || (pixels >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
    }

    function backgroundOf(element: Element | null): Color {
      if (!element) return [255, 255, 255, 1];
      const color = parse(getComputedStyle(element).backgroundColor);
      return color[3] === 1 ? color : blend(color, backgroundOf(element.parentElement));
    }

    function parse(color: string): Color {
      const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
      return [red, green, blue, alpha];
    }

    function blend(above: Color, below: Color): Color {
      const mix = (index: 0 | 1 | 2) => above[index] * above[3] + below[index] * (1 - above[3]);
      return [mix(0), mix(1), mix(2), 1];
    }

    function luminance([red, green, blue]: Color): number {
      const linear = (value: number) =>
        value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
      return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    }
  });
}
