import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { deriveDocument } from "../../scripts/lib/docs/document.ts";
import { readSite } from "../../scripts/lib/docs/rendering.ts";
import { goTo, headingOf, type OpenSite, openSite, watch } from "./given.ts";

type Operation = { operationId: string; summary: string; tags: string[] };

const published = readContract("openapi").document;
const sandbox = readContract("sandbox").document;
const operations = [published.paths, published.webhooks, sandbox.paths]
  .flatMap((items) => Object.values(items as Record<string, Record<string, Operation>>))
  .flatMap((item) => Object.values(item))
  .filter(({ operationId }) => operationId !== undefined)
  .map(({ operationId, summary, tags: [tag] }) => ({
    name: summary,
    route: `#/${tag}/${operationId}`.toLowerCase(),
  }));

/** On a busy machine the page takes seconds to come to a place. */
const POLL = { timeout: 15_000 };

let site: OpenSite;
let page: Page;
beforeAll(async () => {
  site = await openSite();
  page = await site.browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(15_000);
  await page.goto(site.url);
});
afterAll(async () => site?.[Symbol.asyncDispose]());

describe("the docs page", () => {
  test.each([
    { route: "#/refunds/issuerefund", name: "Issue a refund" },
    { route: "#/webhooks/subscribetowebhooks", name: "Subscribe to webhooks" },
    { route: "#/interface/2/2.7", name: "2.7 softDescriptor" },
  ])("opens at $route, when that is where it is entered", async ({ route, name }) => {
    await using context = await site.browser.newContext();
    const entered = await context.newPage();

    await entered.goto(site.url + route);

    await headingOf(entered, name).first().waitFor();
    await expect.poll(() => entered.evaluate(distanceToTop, route.slice(2)), POLL).toBeLessThan(100);
  });

  test("goes to every operation", async () => {
    expect(operations).toHaveLength(25);
    for (const { route, name } of operations) {
      await goTo(page, route);
      await headingOf(page, name).first().waitFor();
      await expect.poll(() => page.evaluate(distanceToTop, route.slice(2)), POLL).toBeLessThan(100);
    }
  });

  test.each([
    ["a field by its name", "clientReferenceId", "request fields → clientReferenceId"],
    ["a guide", "Make the requestKey first", "1. Make the requestKey first"],
    ["a decision", "Business days", "D16 Business days"],
    ["an error code", "AMOUNT_EXCEEDS_REFUNDABLE", "AMOUNT_EXCEEDS_REFUNDABLE"],
  ])("finds %s", async (_, words, title) => {
    const watched = watch(page);

    await page.getByTestId("search-trigger").first().click();
    await page.getByPlaceholder("Search docs...").fill(words);
    await page.getByTestId("search-dialog").getByText(title).first().waitFor();
    await page.keyboard.press("Escape");

    expect(watched).toEqual({ requests: [], faults: [] });
  });

  /** @decision D00 */
  test("shows the source of a field as badges, and each leads to what it names", async () => {
    await goTo(page, "#/refunds/issuerefund");
    const badge = page.getByRole("link", { name: "specified 2.6" }).filter({ visible: true }).first();
    await badge.waitFor();
    expect(await badge.getAttribute("title")).toBe("2.6 Two spellings of clientReferenceId");
    await badge.click();
    await headingOf(page, "2.6 Two spellings of clientReferenceId").waitFor();
    expect(new URL(page.url()).hash).toBe("#/interface/2/2.6");

    await goTo(page, "#/refunds/issuerefund");
    await page.getByRole("link", { name: "decided D14" }).filter({ visible: true }).first().click();
    await headingOf(page, "D14 Characters of softDescriptor").waitFor();
  });

  /** @decision D01 @decision D02 */
  test("explains the misspelling and the two names of the failure state where they occur", async () => {
    await goTo(page, "#/refunds/issuerefund");

    await page
      .getByText("The misspelling of clientReferenceId in the interface's list of parameters.")
      .first()
      .waitFor();
    await page.getByText("The failure state, called FAILED in the interface's text,").first().waitFor();
  });

  /** @decision D17 */
  test("draws the states, and says the same in words", async () => {
    await goTo(page, "#/states");
    const drawing = page.getByRole("img", {
      name: /^States of a refund\. A refund starts as PENDING \(1 issue\)\./,
    });
    await drawing.waitFor();

    const { width, height } = (await drawing.boundingBox()) ?? { width: 0, height: 0 };
    expect(width).toBeGreaterThan(300);
    expect(width).toBeLessThan(326);
    expect(height).toBeGreaterThan(200);
    expect(await drawing.locator("text").allTextContents()).toEqual(
      expect.arrayContaining(["PENDING", "AUTHORIZED", "TERMINAL_FAILED", "4 time"]),
    );
    expect(await page.getByRole("row", { name: /^4 PENDING → AUTHORIZED Three business days/ }).count()).toBe(
      1,
    );
  });

  test("shows a call in every language", async () => {
    await goTo(page, "#/refunds/issuerefund");
    await page.locator(".panel-request-samples").getByRole("button", { name: "curl" }).first().click();
    for (const label of ["Our client", "fetch", "Python"]) {
      await page.getByRole("menuitem", { name: label }).first().waitFor();
    }
    await page.keyboard.press("Escape");
  });

  test("has every place that a link in it names", async () => {
    const text = JSON.stringify(deriveDocument(await readSite()));
    const links = new Set([...text.matchAll(/#(\/[^")\\ ]+)/g)].map(([, route = ""]) => route));
    for (const link of [...links]) if (link.startsWith("/components/")) links.delete(link);
    expect(links.size).toBeGreaterThan(100);

    const missing: string[] = [];
    for (const [parent, routes] of Map.groupBy(links, (route) => `/${route.split("/")[1]}`)) {
      await goTo(page, `#${parent}`);
      const absent = () => page.evaluate(findAbsent, routes);
      await expect
        .poll(absent, POLL)
        .toEqual([])
        .catch(async () => missing.push(...(await absent())));
    }
    expect(missing).toEqual([]);
  });
});

/** How far a section is from the top of the window, in pixels. Runs in the page. */
function distanceToTop(id: string): number {
  return Math.abs(document.getElementById(id)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY);
}

/** The routes that the page has no section for. Runs in the page. */
function findAbsent(routes: string[]): string[] {
  const sections = [...document.querySelectorAll("[data-section-id]")].map((one) =>
    one.getAttribute("data-section-id"),
  );
  return routes.filter((route) => !sections.includes(route));
}
