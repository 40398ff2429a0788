import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { openTab } from "../helpers/browser.ts";
import { useTestServer } from "../helpers/server.ts";

/** WCAG 2.2, levels A and AA, as axe-core names its rules. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const WIDTHS = [1280, 390];

const PAGES = [
  ...["/docs/", "/docs/guides/receiving-webhooks.html", "/docs/decisions.html", "/docs/interface.html"],
  ...["/docs/problems.html", "/docs/states.html", "/docs/operators/runbook.html", "/docs/nothing"],
  ...["/docs/reference.html", "/docs/reference.html#/events/onrefundauthorized", "/console"],
];

/** What no style or option of VitePress or Redoc can correct. */
const EXCEPTIONS = ["label-content-name-mismatch"]; // the name of a button leaves out its keys, or what a menu has chosen

const server = useTestServer();

/** The errors of a page and its requests to other hosts, from now on. */
function watch(page: Page): string[] {
  const found: string[] = [];
  page.on("pageerror", (error) => found.push(error.message));
  page.on("console", (message) => {
    const isPageItself = message.text().includes("404 (Not Found)");
    if (["error", "warning"].includes(message.type()) && !isPageItself) found.push(message.text());
  });
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== server.url)
      found.push(request.url());
  });
  return found;
}

async function runAxe(page: Page, runOnly: object): Promise<string[]> {
  const { violations } = (await page.evaluate(
    (options) => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<unknown> } };
      return axe.run(options);
    },
    { runOnly },
  )) as { violations: { id: string; nodes: { target: string[] }[] }[] };
  return violations
    .filter(({ id }) => !EXCEPTIONS.includes(id))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

// Dark differs from light in its colours alone.
describe.each([
  ["light", { type: "tag", values: RULES }, WIDTHS],
  ["dark", { type: "rule", values: ["color-contrast"] }, WIDTHS.slice(0, 1)],
] as const)("in %s", (colorScheme, rules, widths) => {
  test.each(PAGES)("%s fits, and axe finds no barrier in it", { timeout: 60_000 }, async (path) => {
    const page = await openTab({ colorScheme, bypassCSP: true, reducedMotion: "reduce" });
    await page.goto(server.url + path);
    await page.locator("h1, h2").filter({ visible: true }).first().waitFor();
    await page.addScriptTag({ content: axe.source });

    const found: string[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (isWider) found.push(`wider than ${width}`);
      found.push(...(await runAxe(page, rules)).map((violation) => `at ${width}: ${violation}`));
    }

    expect(found).toEqual([]);
  });
});

test("a page loads under its policy without an error, and asks no other host for anything", {
  timeout: 60_000,
}, async () => {
  const page = await openTab();
  const found = watch(page);

  for (const path of PAGES.filter((one) => !one.includes("#"))) {
    const response = await page.goto(server.url + path);
    // The console's stream of changes stays open.
    await page.waitForLoadState(path === "/console" ? "load" : "networkidle");
    const policy = (await response?.headerValue("content-security-policy")) ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
  }

  expect(found).toEqual([]);
});

test("the search finds a merchants' guide, and no operators' page", async () => {
  const page = await openTab();
  await page.goto(`${server.url}/docs/`);
  const search = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox").fill(words);
    const results = page.locator(".results a, .no-results");
    await results.first().waitFor();
    const hrefs = await results.evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    await page.keyboard.press("Escape");
    return hrefs;
  };

  expect(await search("verify signature")).toContainEqual(
    expect.stringContaining("guides/receiving-webhooks.html"),
  );
  expect((await search("failover")).filter((href) => href.includes("/operators/"))).toEqual([]);
});

test("a reader's choice of dark colours holds in guides, reference and console", async () => {
  const page = await openTab({ colorScheme: "light", viewport: { width: 1280, height: 900 } });
  await page.goto(`${server.url}/docs/`);
  await page.getByRole("switch").first().click();

  for (const path of ["/docs/guides/start.html", "/docs/reference.html", "/console"]) {
    await page.goto(server.url + path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    expect([path, await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)]).toEqual(
      [path, "dark"],
    );
  }
});

test("samples name the sandbox that serves the page", async () => {
  const page = await openTab();
  await page.goto(`${server.url}/docs/`);

  await page.getByText(`curl -s ${server.url}/v1/refunds`).waitFor();
});

test("the type of a problem leads to the section about its code", async () => {
  const page = await openTab();
  await page.goto(`${server.url}/problems/duplicate-request-key`);

  await page.locator(new URL(page.url()).hash, { hasText: "DUPLICATE_REQUEST_KEY" }).waitFor();
});

test("each page is there as Markdown, and llms.txt lists them", async () => {
  const [list = "", page = ""] = await Promise.all(
    ["llms.txt", "guides/start.md"].map(async (name) => (await fetch(`${server.url}/docs/${name}`)).text()),
  );

  expect(list).toContain("(/docs/guides/start.md)");
  expect(page).toMatch(/^# /m);
});
