import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goTo, headingOf, type OpenSite, openSite } from "./given.ts";

/** WCAG 2.2, levels A and AA, as axe-core names what it checks. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

const PLACES = [
  { route: "#/", name: "Refunds and webhooks (1.0.0)" },
  { route: "#/receiving-webhooks", name: "Receiving webhooks" },
  { route: "#/states", name: "States of a refund" },
  { route: "#/problems", name: "Problems and error codes" },
  { route: "#/refunds/issuerefund", name: "Issue a refund" },
  { route: "#/events/onrefundauthorized", name: "A refund is authorized" },
  { route: "#/traceability", name: "Traceability" },
];

/** Faults of Redoc itself that no style and no option mends, with the reason why they are borne. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "label-content-name-mismatch":
    'The menus of examples are called "Example" to a screen reader, not by what is chosen.',
};

let site: OpenSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

describe("the docs page", () => {
  test.each(["light", "dark"] as const)(
    "in %s has no fault that axe finds, but for what is listed",
    async (colorScheme) => {
      await using context = await site.browser.newContext({
        colorScheme,
        viewport: { width: 1440, height: 900 },
        reducedMotion: "reduce",
        bypassCSP: true,
      });
      const page = await context.newPage();
      await page.goto(site.url);
      await page.addScriptTag({ content: axe.source });

      const found = new Set<string>();
      for (const { route, name } of PLACES) {
        await goTo(page, route);
        await headingOf(page, name).first().waitFor();
        // The menu opens by an animation, in which its targets are small.
        await page.waitForFunction(() =>
          document.getAnimations().every((one) => one.playState !== "running"),
        );
        for (const fault of await runAxe(page))
          found.add(fault.ours ? `ours: ${fault.id} ${fault.place}` : fault.id);
      }

      expect([...found].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
    },
  );

  test("is readable by keyboard alone", async () => {
    await using context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(site.url);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toMatchObject({ text: "Skip to the text", visible: true, ring: true });
    await goTo(page, "#/states");
    await headingOf(page, "States of a refund").waitFor();
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("states");
    expect(new URL(page.url()).hash).toBe("#/states");

    const reached: Focus[] = [];
    while (reached.length < 25 && !reached.some(({ text }) => text === "specified 6.3")) {
      await page.keyboard.press("Tab");
      reached.push(await focused(page));
    }
    expect(reached.at(-1)).toMatchObject({ text: "specified 6.3" });
    expect(reached.filter(({ visible, ring }) => !visible || !ring)).toEqual([]);
    await page.keyboard.press("Enter");
    await headingOf(page, "6.3 Issued as PENDING").waitFor();
  });

  test("is searched by keyboard alone", async () => {
    await using context = await site.browser.newContext();
    const page = await context.newPage();
    await page.goto(site.url);
    await headingOf(page, "Refunds and webhooks")
      .or(page.getByRole("heading", { level: 1 }))
      .first()
      .waitFor();

    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search docs...").waitFor();
    await page.keyboard.type("D22 Signature");
    await page.getByTestId("search-dialog").getByText("D22 Signature").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");

    await headingOf(page, "D22 Signature").waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/decisions/webhooks/d22");
  });
});

type Fault = { id: string; place: string; ours: boolean };

/** What is ours is the text of the pages with its badges and drawing, and what stands around Redoc. */
async function runAxe(page: Page): Promise<Fault[]> {
  return page.evaluate(async (rules) => {
    type Report = { violations: { id: string; nodes: { target: string[] }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(root: Node, options: object): Promise<Report> } };
    const { violations } = await axe.run(document, { runOnly: rules });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target }) => {
        const place = target.join(" ");
        const element = document.querySelector(place);
        const ours =
          !element?.closest("#redoc") ||
          element.closest('[data-component-name="Markdown/Markdown"]') !== null;
        return { id, place, ours };
      }),
    );
  }, RULES);
}

type Focus = { text: string; visible: boolean; ring: boolean };

function focused(page: Page): Promise<Focus> {
  return page.evaluate(() => {
    const element = document.activeElement ?? document.body;
    const { left, right, bottom } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return {
      text: element.textContent?.trim() ?? "",
      visible: right > 0 && bottom > 0 && left < innerWidth,
      ring: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
    };
  });
}
