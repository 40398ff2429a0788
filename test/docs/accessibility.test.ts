import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { goTo, headingOf, type OpenSite, openSite } from "./given.ts";

/** WCAG 2.2, levels A and AA, as axe-core names what it checks. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** A desk and a phone. */
const WIDTHS = [1440, 390];

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

/** Redoc's links beside fields, which only the pointer brings out: how large axe finds them changes while the page comes to rest. */
const UNDER_POINTER = ".deep-link-anchor";

/** What Redoc gives to the mouse alone, with the reason why nobody misses it. */
const MOUSE_ONLY: Readonly<Record<string, string>> = {
  "Panel/PanelHeader": "Folds a panel that is open.",
  "Sidebar/SidebarActions": "Puts samples below the text instead of beside it.",
  "menu-item-label": "The name of a group in the menu; no click reaches it.",
};

let site: OpenSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

describe("the docs page", () => {
  test.each(["light", "dark"] as const)(
    "in %s, wide and narrow, has no fault that axe finds, but for what is listed",
    async (colorScheme) => {
      await using context = await site.browser.newContext({
        colorScheme,
        reducedMotion: "reduce",
        bypassCSP: true,
      });
      const page = await context.newPage();
      await page.goto(site.url);
      await page.addScriptTag({ content: axe.source });
      await page.addStyleTag({ content: "* { animation: none !important; transition: none !important }" });

      const found = new Set<string>();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        for (const { route, name } of PLACES) {
          await goTo(page, route);
          await headingOf(page, name).first().waitFor();
          await page.evaluate(settle);
          for (const { id, place, ours } of await runAxe(page))
            found.add(id in EXCEPTIONS && !ours ? id : `${id} at ${width} in ${route}: ${place}`);
        }
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

  test("lets the keyboard reach all that takes a click, but for what is listed", async () => {
    await using context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(site.url);

    const found = new Set<string>();
    for (const [route, name] of [
      ["#/problems", "Problems and error codes"],
      ["#/refunds/issuerefund", "Issue a refund"],
    ] as const) {
      await goTo(page, route);
      await headingOf(page, name).first().waitFor();
      for (const one of await page.evaluate(findMouseOnly)) found.add(one);
    }

    expect([...found].sort()).toEqual(Object.keys(MOUSE_ONLY).sort());
  });

  test("is searched by keyboard alone", async () => {
    await using context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(site.url);
    await page.getByRole("button", { name: "Search Ctrl+K" }).waitFor();

    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toEqual({ text: "Search Ctrl+K", visible: true, ring: true });
    await page.keyboard.press("Enter");
    await page.getByPlaceholder("Search docs...").waitFor();
    await page.keyboard.type("D22 Signature");
    await page.getByTestId("search-dialog").getByText("D22 Signature").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");

    await headingOf(page, "D22 Signature").waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/decisions/webhooks/d22");
  });
});

/** Resolves when the page has drawn what it was asked for, twice: what is open moves. Runs in the page. */
function settle(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

type Fault = { id: string; place: string; ours: boolean };

/** What is ours is the text of the pages with its badges and drawing, and what stands around Redoc. */
async function runAxe(page: Page): Promise<Fault[]> {
  return page.evaluate(
    async ({ rules, left }) => {
      type Report = { violations: { id: string; nodes: { target: string[] }[] }[] };
      const { axe } = globalThis as unknown as {
        axe: { run(context: object, options: object): Promise<Report> };
      };
      const { violations } = await axe.run({ exclude: [left] }, { runOnly: rules });
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
    },
    { rules: RULES, left: UNDER_POINTER },
  );
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

/** Names of parts that listen to clicks, but neither take the focus nor hold or stand in what does. Runs in the page. */
function findMouseOnly(): string[] {
  const focusable = "a[href], button, input, [tabindex='0']";
  const listening = [...document.querySelectorAll<HTMLElement>("#redoc *")].filter((element) => {
    const key = Object.keys(element).find((name) => name.startsWith("__reactProps"));
    const props = key && (element as unknown as Record<string, { onClick?: unknown }>)[key];
    return props && props.onClick !== undefined && element.checkVisibility();
  });
  if (listening.length < 20) throw new Error("React keeps its listeners elsewhere now.");
  return listening
    .filter((element) => !element.closest(focusable) && !element.querySelector(focusable))
    .map((element) => {
      const holder = element.closest(".panel-header, [data-component-name^='Sidebar/']") ?? element;
      const { componentName, testid } = (holder as HTMLElement).dataset;
      return componentName ?? testid ?? holder.className;
    });
}
