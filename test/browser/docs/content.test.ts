import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { documentedOperations, routeOf } from "../../../scripts/docs/pages.ts";
import { sharedBrowser } from "../../helpers/browser.ts";
import { DESK, DIST, goTo, headingOf, openSite, readBuilt } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

const operations = documentedOperations(readContract("openapi"), readContract("sandbox")).map(
  (operation) => ({ name: operation.summary, route: `#/${routeOf(operation)}` }),
);

const site = forSuite(openSite);
let page: Page;
beforeAll(async () => {
  page = await (await sharedBrowser()).newPage(DESK);
  await page.goto(`${site.url}reference.html`);
  return () => page.close();
});

describe("the reference", () => {
  test.each(["refunds/issuerefund", "webhooks/subscribetowebhooks"])(
    "opens at #/%s, below the site's bar, when that is where it is entered",
    async (id) => {
      const entered = await site.open(`reference.html#/${id}`);

      await expect.poll(() => entered.evaluate(positionOfSection, id)).toEqual(IN_VIEW);
    },
  );

  test("goes to every operation", async () => {
    expect(operations).toHaveLength(46);
    for (const { route, name } of operations) {
      await goTo(page, route);
      await headingOf(page, name).first().waitFor();
      await expect.poll(() => page.evaluate(positionOfSection, route.slice(2))).toEqual(IN_VIEW);
    }
  });

  test("shows the source of a field as badges, and each leads to what it names", async () => {
    await goTo(page, "#/refunds/issuerefund");
    const badge = page.getByRole("link", { name: "specified 2.6" }).filter({ visible: true }).first();
    await badge.waitFor();
    expect(await badge.getAttribute("title")).toBe("2.6 Two spellings of clientReferenceId");
    await badge.click();
    await page.getByRole("heading", { name: "2.6 Two spellings of clientReferenceId" }).waitFor();
    expect(page.url()).toBe(`${site.url}interface.html#2.6`);

    await page.goto(`${site.url}reference.html#/refunds/issuerefund`);
    await page.getByRole("link", { name: "decided D14" }).filter({ visible: true }).first().click();
    await page.getByRole("heading", { name: "D14 Characters of softDescriptor" }).waitFor();
    await page.goto(`${site.url}reference.html`);
  });

  test("explains the misspelling and the two names of the failure state where they occur", async () => {
    await goTo(page, "#/refunds/issuerefund");

    await page
      .getByText("The misspelling of clientReferenceId in the interface's list of parameters.")
      .first()
      .waitFor();
    await page.getByText("The interface's text calls the failure state FAILED;").first().waitFor();
  });

  test("draws the states, and says the same in words", async () => {
    await page.goto(`${site.url}states.html`);
    const drawing = page.getByRole("img", {
      name: /^States of a refund\. A refund starts as PENDING \(1: issue\)\./,
    });
    await drawing.waitFor();

    const { width, height } = (await drawing.boundingBox()) ?? { width: 0, height: 0 };
    expect(width).toBeGreaterThan(300);
    expect(width).toBeLessThan(350); // what a phone has between its margins
    expect(height).toBeGreaterThan(200);
    expect(await drawing.locator("text").allTextContents()).toEqual(
      expect.arrayContaining(["PENDING", "AUTHORIZED", "TERMINAL_FAILED", "4: 3 business days passed"]),
    );
    expect(await page.getByRole("row", { name: /^4 PENDING → AUTHORIZED Three business days/ }).count()).toBe(
      1,
    );
    await page.goto(`${site.url}reference.html`);
  });

  test.each(["PENDING", "AUTHORIZED", "TERMINAL_FAILED"])("shows %s in its colour", async (status) => {
    await page.goto(`${site.url}reference.html#/refunds/issuerefund`);
    const colour = (name: string) =>
      page
        .locator("code", { hasText: new RegExp(`^${name}$`) })
        .first()
        .evaluate((code) => getComputedStyle(code).color);
    const here = await colour(status);
    const plain = await colour("errorDetails");
    await page.goto(`${site.url}states.html`);

    expect(here).toBe(await colour(status));
    expect(here).not.toBe(plain);
  });

  test("shows first the response that the first sample gets", async () => {
    await page.goto(`${site.url}reference.html#/refunds/issuerefund`);
    const { requests, responses } = readContract("openapi").operation("issueRefund");
    const [request] = requests;
    const response = responses.find(({ name }) => name === request?.name);
    const panel = page
      .getByTestId("right-panel")
      .filter({ hasText: "Response" })
      .filter({ visible: true })
      .last();

    await expect
      .poll(async () => bodyIn((await panel.innerText()).split("Response").at(-1)))
      .toEqual(response?.value);
    const sample = page.locator(".panel-request-samples").first();
    await expect.poll(async () => bodyIn(await sample.innerText())).toEqual(request?.value);
  });

  test("lists the statuses with their codes, unfolds problems, names Bearer, shows no noise, and has every language", async () => {
    await page.goto(`${site.url}reference.html#/refunds/issuerefund`);
    const operation = page.locator('[id="refunds/issuerefund"]');
    const row = operation.getByRole("row", { name: "409 DUPLICATE_REQUEST_KEY" });
    expect(await row.getByRole("link").getAttribute("href")).toBe("problems.html#duplicate_request_key");
    await operation.getByText("Bearer", { exact: true }).waitFor();

    const panel = operation.getByTestId("right-panel").last();
    for (const [status, member] of [
      ["400", "pointer"],
      ["409", "currency"],
    ] as const) {
      await panel.getByText(status, { exact: true }).click();
      await expect.poll(() => panel.innerText()).toContain(member);
    }
    // Examples that are escaped twice, objects that are folded, and the pattern that only keeps broken text out.
    expect(await operation.innerText()).not.toMatch(/\\"|Show \d+ properties|x00/);
    await operation.locator(".panel-request-samples").getByRole("button", { name: "curl" }).click();
    for (const label of ["Our client", "fetch", "Python", "Go", "Java", "C#", "PHP", "Ruby"])
      await page.getByRole("menuitem", { name: label }).first().waitFor();
  });

  test("leads to what exists, as all pages do", async () => {
    const names = (await readdir(DIST)).filter((name) => /\.html$/.test(name));
    const pages = new Map(
      await Promise.all(names.map(async (name) => [name, (await readBuilt(name)).toString()] as const)),
    );
    const routes = operations.map(({ route }) => route).concat("#/events", "#/clock");

    const broken: string[] = [];
    let count = 0;
    for (const [name, html] of pages) {
      const text = name === "reference.html" ? html.replaceAll('\\"', '"') : html;
      for (const [, link = ""] of text.matchAll(/ href="([^"]+)"/g)) {
        if (/^(https?:|data:|\/|\$)/.test(link)) continue;
        count += 1;
        const [file = "", ...rest] = link.split("#");
        const target = pages.get(file === "" ? name : file);
        const id = rest.length > 0 ? `#${rest.join("#")}` : "";
        const isLocation =
          id === "" || id.startsWith("#/")
            ? id === "" || routes.includes(id) || file === ""
            : target?.includes(` id="${id.slice(1)}"`);
        const isFile =
          target !== undefined || (/\.(md|txt|json|yaml|svg)$/.test(file) && existsSync(new URL(file, DIST)));
        if (!isFile || !isLocation) broken.push(`${name}: ${link}`);
      }
    }

    expect(broken).toEqual([]);
    expect(count).toBeGreaterThan(1_000);
  });
});

/** At the top of the window, below the bar above all pages. */
const IN_VIEW = { barTop: 0, isBelowBar: true, isInView: true };

/** Where a section and that bar are. Runs in the page. */
function positionOfSection(id: string): unknown {
  const bar = document.querySelector(".site-header")?.getBoundingClientRect();
  const top = document.getElementById(id)?.getBoundingClientRect().top ?? Number.NaN;
  return {
    barTop: bar?.top,
    isBelowBar: Math.ceil(top) >= Math.floor(bar?.bottom ?? Number.NaN),
    isInView: top < innerHeight / 4,
  };
}

/** The JSON body that a sample shows; undefined when it shows none yet. */
function bodyIn(text = ""): unknown {
  const [body] = /\{[\s\S]*\}/.exec(text) ?? [];
  return body && JSON.parse(body);
}
