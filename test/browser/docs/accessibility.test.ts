import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openTab } from "../../helpers/browser.ts";
import { DESK, goTo, headingOf, openSite, PHONE } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

/** WCAG 2.2, levels A and AA, as axe-core names its rules. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

const WINDOWS = [DESK.viewport, PHONE.viewport];

/** Pages of this project, in which axe may find nothing. */
const PAGES = [
  ...["", "receiving-webhooks.html", "states.html", "problems.html", "decisions.html"],
  ...["packages.html", "performance.html", "nothing"],
];

/** Parts of the reference, which Redoc draws. */
const ROUTES = [
  { route: "#/", name: "Refunds and webhooks (1.0.0)" },
  { route: "#/refunds/issuerefund", name: "Issue a refund" },
  { route: "#/events/onrefundauthorized", name: "A refund is authorized" },
];

/** Violations in Redoc itself that no style or option can correct, with the reason why they are accepted. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "label-content-name-mismatch":
    'The menus of examples are called "Example" to a screen reader, not by what is chosen.',
};

/** Redoc's links beside fields, which only the pointer brings out: the size that axe measures changes while the page settles. */
const UNDER_POINTER = ".deep-link-anchor";

const site = forSuite(openSite);

describe.each(["light", "dark"] as const)("in %s, wide and narrow", (colorScheme) => {
  test("each page fits, and axe finds nothing in it", async () => {
    const page = await openTab({ colorScheme, bypassCSP: true });

    const found: string[] = [];
    for (const file of PAGES) {
      const response = await page.goto(site.url + file);
      expect([file, response?.status()]).toEqual([file, file === "nothing" ? 404 : 200]);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.addScriptTag({ content: axe.source });
      for (const window of WINDOWS) {
        await page.setViewportSize(window);
        if (!(await fits(page))) found.push(`${file} is wider than ${window.width}`);
        for (const { id, target } of await runAxe(page))
          found.push(`${id} at ${window.width} in ${file}: ${target}`);
      }
    }

    expect(found).toEqual([]);
  });

  test("the reference fits, and axe finds nothing in it, but for what is listed", async () => {
    const page = await site.open("reference.html", {
      colorScheme,
      reducedMotion: "reduce",
      bypassCSP: true,
    });
    await page.addScriptTag({ content: axe.source });
    await page.addStyleTag({ content: "* { animation: none !important; transition: none !important }" });

    const found = new Set<string>();
    for (const window of WINDOWS) {
      await page.setViewportSize(window);
      for (const { route, name } of ROUTES) {
        await goTo(page, route);
        await headingOf(page, name).first().waitFor();
        if (!(await fits(page))) found.add(`${route} is wider than ${window.width}`);
        for (const { id, target, ours } of await findLasting(page))
          found.add(id in EXCEPTIONS && !ours ? id : `${id} at ${window.width} in ${route}: ${target}`);
      }
    }

    expect([...found].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
  });
});

describe("the keyboard alone", () => {
  test("reads a page, and sees where it is", async () => {
    const page = await site.open("states.html", DESK);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toMatchObject({ text: "Skip to the text", visible: true, ring: true });
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");

    const reached: Focus[] = [];
    while (reached.length < 25 && !reached.some(({ text }) => text === "specified 6.3")) {
      await page.keyboard.press("Tab");
      reached.push(await focused(page));
    }
    expect(reached.at(-1)).toMatchObject({ text: "specified 6.3" });
    expect(reached.filter(({ visible, ring }) => !visible || !ring)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "6.3 Issued as PENDING" }).waitFor();
  });

  test("reaches all of the reference that takes a click", async () => {
    const page = await site.open("reference.html#/refunds/issuerefund", DESK);
    await headingOf(page, "Issue a refund").first().waitFor();

    const found = async () => [...new Set(await page.evaluate(findMouseOnly))].sort();

    await expect.poll(found).toEqual([]);
  });

  test.each(["", "reference.html"])("searches in /docs/%s by a button, / and Ctrl+K", async (file) => {
    const page = await openTab(DESK);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/search.js", async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(site.url + file);
    const searchbox = page.getByRole("searchbox");

    await page.getByRole("button", { name: "Search" }).first().focus();
    await page.keyboard.press("Enter");
    await searchbox.waitFor();
    await page.keyboard.press("Escape");
    await searchbox.waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("a/b");
    expect(await searchbox.inputValue()).toBe("a/b");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("D22 Signature");
    await page.getByText("Loading…").waitFor();
    release(); // What was typed before there was an index is not lost.
    await page.getByRole("dialog", { name: "Search" }).getByRole("link", { name: "D22 Signature" }).waitFor();
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toMatchObject({ visible: true, ring: true });
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "D22 Signature" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#d22");
  });
});

function fits(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
}

/** Resolves when the page has been drawn twice, because opening parts are animated. Runs in the page. */
function settle(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

type Violation = { id: string; target: string; ours: boolean };

/**
 * The violations that axe finds in both of two runs, with time to draw between them: Redoc draws its parts and their colours
 * one after the other.
 */
async function findLasting(page: Page): Promise<Violation[]> {
  await page.evaluate(settle);
  const first = await runAxe(page);
  if (first.length === 0) return first;
  await page.evaluate(settle);
  const repeated = await runAxe(page);
  return first.filter(({ id, target }) => repeated.some((one) => one.id === id && one.target === target));
}

/** Ours are the text of the pages, with its badges and drawing, and everything around Redoc. */
async function runAxe(page: Page): Promise<Violation[]> {
  return page.evaluate(
    async ({ rules, left }) => {
      type Report = { violations: { id: string; nodes: { target: string[] }[] }[] };
      const { axe } = globalThis as unknown as {
        axe: { run(context: object, options: object): Promise<Report> };
      };
      const { violations } = await axe.run({ exclude: [left] }, { runOnly: rules });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => {
          const target = node.target.join(" ");
          const element = document.querySelector(target);
          const ours =
            !element?.closest("#redoc") ||
            element.closest('[data-component-name="Markdown/Markdown"]') !== null;
          return { id, target, ours };
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

/**
 * Names of elements that listen to clicks, but neither take the focus nor contain or are inside an element that does. Runs
 * in the page.
 */
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
