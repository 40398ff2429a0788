import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openTab } from "../../helpers/browser.ts";
import { goTo, openSite, PHONE } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

const site = forSuite(openSite);

const consoleUrl = () => new URL("/console", site.url).href;

/** Pages of each kind, and what they have when they are drawn. */
const KINDS = () => [
  { url: site.url, drawn: "h1" },
  { url: `${site.url}receiving-webhooks.html`, drawn: "h1" },
  { url: `${site.url}reference.html#/refunds/issuerefund`, drawn: '[id="refunds/issuerefund"] h2' },
  { url: consoleUrl(), drawn: "main h1" },
];

const themeButton = (page: Page) => page.getByRole("button", { name: "Dark colours" });

/** Whether the page is dark, and the colours of its bar and its links. */
const look = (page: Page) =>
  page.evaluate(() => {
    const header = document.querySelector(".site-header") as Element;
    const { color, backgroundColor } = getComputedStyle(header);
    const link = header.querySelector("nav [aria-current], nav a") as Element;
    return {
      scheme: getComputedStyle(document.documentElement).colorScheme,
      color,
      backgroundColor,
      link: getComputedStyle(link).color,
    };
  });

describe("docs, reference and console", () => {
  test("remember one choice of colours, in open tabs, too", async () => {
    const page = await site.open("", { colorScheme: "light" });
    const other = await page.context().newPage();
    await other.goto(`${site.url}reference.html`);
    await themeButton(page).click();
    await other.locator("html.dark").waitFor();

    const dark = await look(page);
    expect(dark.scheme).toBe("dark");
    for (const { url, drawn } of KINDS().slice(1)) {
      await page.goto(url);
      await page.locator(drawn).first().waitFor();
      expect(await look(page)).toMatchObject({ ...dark, link: expect.any(String) });
      expect(await themeButton(page).getAttribute("aria-pressed")).toBe("true");
    }
    await themeButton(page).click();
    expect((await look(page)).scheme).toBe("light");
    await other.locator("html.light").waitFor();
  });

  test("have the same colours on the reference's ground as elsewhere, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await site.open("start.html", { colorScheme });
      const ground = () =>
        page.evaluate(() => {
          const colours = [...document.querySelectorAll("body, #redoc > div, #redoc main")].map(
            (part) => getComputedStyle(part).backgroundColor,
          );
          return [...new Set(colours)].filter((colour) => colour !== "rgba(0, 0, 0, 0)");
        });
      const usual = await ground();
      await page.goto(`${site.url}reference.html`);
      await page.getByRole("heading", { name: "Refunds and webhooks" }).first().waitFor();

      expect(await ground()).toEqual(usual);
    }
  });

  test("lead to each other", async () => {
    const page = await site.open("reference.html");
    const bar = page.getByRole("navigation", { name: "Main" });

    await bar.getByRole("link", { name: "Console" }).click();
    await page.getByRole("heading", { level: 1, name: "Payments" }).waitFor();
    await bar.getByRole("link", { name: "Start" }).click();

    await page.getByRole("heading", { level: 1, name: "Start in five minutes" }).waitFor();
  });

  test("have one menu, in which the reference marks what is shown", async () => {
    const page = await site.open("start.html", { viewport: { width: 1280, height: 900 } });
    const menu = page.getByRole("navigation", { name: "Pages" });
    const links = () => menu.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    const usual = await links();
    await page.goto(`${site.url}reference.html`);

    expect(await links()).toEqual(usual);
    expect(usual).toContain("reference.html#/clock/advanceclock");
    await page.setViewportSize({ width: 1280, height: 500 });
    await goTo(page, "#/events/onrefundauthorized");
    const marked = menu.locator("[aria-current]");
    await expect.poll(() => marked.allInnerTexts()).toEqual(["A refund is authorized"]);
    expect(await marked.evaluate(isInView)).toBe(true);
  });

  test("keep the bar in view on a phone, cover nothing, and let every column be reached", async () => {
    const page = await openTab(PHONE);
    for (const { url, drawn } of [...KINDS(), { url: `${site.url}packages.html`, drawn: "h1" }]) {
      await page.goto(url);
      await page.locator(drawn).first().waitFor();
      await page.evaluate(() => scrollBy(0, 600));

      expect(await page.evaluate(findUnreachable), url).toEqual([]);
      expect(
        await page.evaluate(() => document.querySelector(".site-header")?.getBoundingClientRect().top),
      ).toBe(0);
      expect(
        await page.locator(".site-header nav").evaluate((nav) => nav.scrollWidth - nav.clientWidth),
      ).toBe(0);
      expect(await page.getByRole("link", { name: "Console", exact: true }).first().isVisible(), url).toBe(
        true,
      );
    }
  });

  test("stack the rows of a wide table on a phone, each cell under the name of its column", async () => {
    const page = await openTab(PHONE);
    for (const name of ["going-live", "runbook"]) {
      await page.goto(`${site.url}${name}.html`);
      const scrolling = await page
        .locator(".stack")
        .evaluateAll((boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth).length);
      expect(scrolling, name).toBe(0);
    }
    const cell = page.getByRole("cell", { name: "finished calls" });
    expect(await cell.evaluate((one) => getComputedStyle(one, "::before").content)).toMatch(
      /data-column|meaning/,
    );
  });
});

/** Whether all of a link can be seen in the menu, which scrolls. Runs in the page. */
function isInView(link: Element): boolean {
  const { top, bottom } = link.getBoundingClientRect();
  return document.elementFromPoint(60, top + 2) === link && bottom < innerHeight;
}

/** Parts that cover others, and tables and code that are cut off where nothing scrolls. Runs in the page. */
function findUnreachable(): string[] {
  const name = (part: Element) => `${part.tagName} ${part.className}`;
  const visible = [...document.querySelectorAll("body *")].filter((part) => part.checkVisibility());
  const covering = visible.filter((part) => getComputedStyle(part).position === "fixed");
  const cut = visible
    .filter((part) => part.matches("table, pre"))
    .filter((part) => {
      let scroller: Element | null = part;
      while (scroller && !/auto|scroll/.test(getComputedStyle(scroller).overflowX))
        scroller = scroller.parentElement;
      if (!scroller || scroller === document.documentElement)
        return part.getBoundingClientRect().right > innerWidth + 1;
      const { left, right } = scroller.getBoundingClientRect();
      const end = part.getBoundingClientRect().right - left + scroller.scrollLeft;
      return right > innerWidth + 1 || end > scroller.scrollWidth + 1;
    });
  return [...covering, ...cut].map(name);
}
