import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { openTab } from "../../helpers/browser.ts";
import { fileOf, goTo, headingOf, openSite, PHONE, readBuilt, watch } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

const site = forSuite(openSite);

const PAGES = [
  { file: "", title: "Refunds and webhooks: API docs", name: "Refund a bank payment, exactly once" },
  { file: "start.html", title: "Start – Refunds and webhooks", name: "Start in five minutes" },
  { file: "states.html", title: "States – Refunds and webhooks", name: "States of a refund" },
  { file: "problems.html", title: "Error codes – Refunds and webhooks", name: "Problems and error codes" },
  { file: "decisions.html", title: "Decisions – Refunds and webhooks", name: "Decisions" },
  {
    file: "packages.html",
    title: "Packages – Refunds and webhooks",
    name: "Packages",
  },
] as const;

/** The last line of every page. */
const VERSION = `Version ${(readContract("openapi").document.info as { version: string }).version} of the contract`;

test("each page shows itself under the server's policy, and asks for nothing else", async () => {
  const page = await openTab();
  const watched = watch(page);

  for (const { file, title, name } of PAGES) {
    await page.goto(site.url + file);
    expect(await page.title()).toBe(title);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByText(VERSION).waitFor();
  }

  expect(watched).toEqual({ requests: PAGES.map(({ file }) => site.url + file), errors: [] });
});

test.each(["light", "dark"] as const)(
  "the reference does so, too, and follows a reader's %s",
  async (colorScheme) => {
    const page = await openTab({ colorScheme });
    const watched = watch(page);
    const url = `${site.url}reference.html`;

    await page.goto(url);

    await goTo(page, "#/refunds/issuerefund");
    await headingOf(page, "Issue a refund").waitFor();
    expect(await page.title()).toBe("Refunds and webhooks");
    await page.getByText(VERSION).waitFor();
    expect(await page.locator("html").getAttribute("class")).toBe(colorScheme);
    const tryIt = expect.stringMatching(/\/console\/try-it-\w+\.js$/);
    expect(watched).toEqual({ requests: [url, tryIt], errors: [] });
  },
);

/** What a new reader looks for, and no search finds by these words. */
const TASKS = {
  "Start in five minutes": "start.html",
  "Your first refund": "start.html",
  "Verify a webhook": "receiving-webhooks.html",
  "all states": "states.html",
  "What changed in each release": "changelog.html",
  "How to go live": "going-live.html",
  "Examine your system before you go live": "before-you-go-live.html",
  "Test your own server: the conformance kit": "conformance-kit.html",
  glossary: "glossary.html",
};

test.each(["states.html", "reference.html"])(
  "%s is printed in dark letters, also in dark mode",
  async (file) => {
    const page = await openTab({ colorScheme: "dark" });
    await page.goto(site.url + file);
    await page.emulateMedia({ media: "print" });

    expect(await page.locator("body").evaluate((body) => getComputedStyle(body).color)).toBe(
      "rgb(22, 32, 29)",
    );
  },
);

describe("the front page", () => {
  test("leads a newcomer to every task by one link", async () => {
    const html = (await readBuilt("index.html")).toString();
    const links = Array.from(html.matchAll(/<a href="([^"]+)">([^<]+)<\/a>/g), ([, url, name]) => [
      name,
      url,
    ]);

    expect(Object.fromEntries(links)).toMatchObject(TASKS);
  });

  test.each([1440, 390])(
    "shows a call and its response, %d wide, in the first screen, and no line is cut off",
    async (width) => {
      const page = await site.open("", { viewport: { width, height: 900 } });

      const bottoms = await page.evaluate(() =>
        ["h1", ".try figure.output", ".card:last-child", ".life svg"].map(
          (selector) => document.querySelector(selector)?.getBoundingClientRect().bottom ?? Infinity,
        ),
      );
      const [title = 0, output = 0, cards = 0, drawing = 0] = bottoms;
      await page.setViewportSize({ width: Math.min(width, 1280), height: 900 });
      // This browser has no monospaced font; those that readers have are wider.
      await page.addStyleTag({ content: ".try code { letter-spacing: 2px }" });
      const hidden = await page
        .locator(".try pre")
        .evaluateAll((blocks) => blocks.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));

      expect(output).toBeLessThan(900);
      if (width === 1440) expect(Math.max(cards, drawing)).toBeLessThan(900);
      else expect(title).toBeLessThan(250);
      expect(hidden).toEqual([0, 0]);
    },
  );
});

describe("a page of text", () => {
  test("leads to the page before it and the page after it", async () => {
    const page = await site.open("refunds-step-by-step.html");
    const around = page.getByRole("navigation", { name: "Previous and next page" });

    await around.getByRole("link", { name: "Previous Packages" }).waitFor();
    await around.getByRole("link", { name: "Next Webhooks" }).click();

    await page.getByRole("heading", { level: 1, name: "Receiving webhooks" }).waitFor();
  });

  test("has a menu on a phone", async () => {
    const page = await site.open("start.html", PHONE);

    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Error codes" }).click();

    await page.getByRole("heading", { level: 1, name: "Problems and error codes" }).waitFor();
  });

  test("copies a file as it is shown, and itself as Markdown", async () => {
    const page = await site.open("refunds-step-by-step.html", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());

    await page
      .locator("figure", { hasText: "refund.mjs" })
      .first()
      .getByRole("button", { name: "Copy" })
      .click();
    await expect.poll(copied).toMatch(/^const SERVICE = "http:\/\/127\.0\.0\.1:\d+";\n[\s\S]*\n}\n?$/);
    await page.getByRole("button", { name: "Copy page" }).click();

    const { origin } = new URL(site.url);
    const written = (await readBuilt("refunds-step-by-step.md")).toString();
    await expect.poll(copied).toBe(written.replaceAll("http://127.0.0.1:3000", origin));
  });
});

test("an address without a page leads on by the search and by its links", async () => {
  const page = await openTab();
  const response = await page.goto(`${site.url}guides/nothing`);
  expect([response?.status(), page.url()]).toEqual([404, `${site.url}nothing`]);
  await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("partial refund");
  await page.locator(".search-dialog .hits a").first().click();
  await page.getByRole("heading", { level: 1, name: "Refunds step by step" }).waitFor();
});

describe("the site", () => {
  test("works from files, without any server", async () => {
    const page = await openTab();
    const watched = watch(page);

    await page.goto(fileOf("index.html"));
    await page.getByRole("link", { name: "What an error code means" }).click();
    await page.getByRole("heading", { level: 1, name: "Problems and error codes" }).waitFor();
    await page.getByRole("link", { name: "API reference" }).click();
    await goTo(page, "#/refunds/issuerefund");
    await headingOf(page, "Issue a refund").waitFor();

    const requests = watched.requests.filter((url) => !url.startsWith("blob:"));
    const expected = ["index.html", "problems.html", "reference.html"].map(fileOf);
    expect({ ...watched, requests }).toEqual({ requests: expected, errors: [] });
  });

  test("is readable without JavaScript", async () => {
    const page = await site.open("decisions.html", { javaScriptEnabled: false });

    await page.getByRole("link", { name: "D22", exact: true }).first().click();
    await page.getByRole("heading", { name: "D22 Signature" }).waitFor();
    await page.goto(`${site.url}reference.html`);
    await page.locator(".no-script").getByRole("link", { name: "the reference" }).click();

    expect(page.url()).toBe(`${site.url}reference.md`);
    await page.getByText("### Issue a refund").waitFor();
  });

  test("reports nothing about its readers, which the same page does with the switch turned", async () => {
    const silent = (await readBuilt("reference.html")).toString();
    const talking = silent.replace('"disableTelemetry":true', '"disableTelemetry":false');

    const reader = await openInPublic(silent);
    const control = await openInPublic(talking);
    const passTime = async () => {
      await reader.page.clock.runFor(5_000);
      await control.page.clock.runFor(5_000);
      return control.requests;
    };
    await expect.poll(passTime).toContain("https://otel.cloud.redocly.com/v1/traces");

    expect(reader.requests).toEqual([PUBLIC_URL]);
  });

  test.each([
    ["reference.html", 700_000],
    ["index.html", 20_000],
    ["decisions.html", 50_000],
    ["search.js", 128_000],
  ])("has compressed forms of %s that are the same, the smaller one at most %d bytes", async (name, most) => {
    const file = await readBuilt(name);
    const br = await readBuilt(`${name}.br`);

    expect(brotliDecompressSync(br).equals(file)).toBe(true);
    expect(gunzipSync(await readBuilt(`${name}.gz`)).equals(file)).toBe(true);
    expect(br.length).toBeLessThanOrEqual(most);
  });
});

/** Not a local address, from which Redoc never reports. It stands for the published page; no request leaves this machine. */
const PUBLIC_URL = "https://docs.example.com/";

/** Opens a page at a public address, without a security policy, with a clock that only the test advances. */
async function openInPublic(html: string) {
  const page = await openTab();
  const requests: string[] = [];
  await page.route("**/*", (route) => {
    requests.push(route.request().url());
    const isPage = route.request().url() === PUBLIC_URL;
    return isPage ? route.fulfill({ contentType: "text/html", body: html }) : route.abort();
  });
  await page.clock.install();
  await page.goto(PUBLIC_URL);
  await page.getByRole("heading", { name: "Refunds and webhooks" }).waitFor();
  return { page, requests };
}
