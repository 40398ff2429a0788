import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchBrowser, type TestBrowser } from "../helpers/browser.ts";
import { findFaintTexts } from "./contrast.ts";
import { type BuiltPage, fileOf, readBuiltPage, servePage, watch } from "./given.ts";

let built: BuiltPage;
let server: Awaited<ReturnType<typeof servePage>>;
let browser: TestBrowser;

beforeAll(async () => {
  built = await readBuiltPage("index.html");
  server = await servePage(built);
  browser = await launchBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

const OPERATIONS = [
  { route: "#/refunds/issuerefund", name: "Issue a refund", path: "/v1/refunds" },
  { route: "#/webhooks/subscribetowebhooks", name: "Subscribe to webhooks", path: "/v1/webhook/subscribe" },
] as const;

async function goTo(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => location.assign(hash), route);
}

/** A heading's name begins with that of the link in it. */
function headingOf(page: Page, name: string): Locator {
  return page.getByRole("heading", { name: new RegExp(`${name}$`) });
}

describe("the docs page", () => {
  describe.each([
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 1440 },
    { colorScheme: "light", width: 390 },
    { colorScheme: "dark", width: 390 },
  ] as const)("in $colorScheme, $width wide", ({ colorScheme, width }) => {
    test("shows both operations under the server's policy, and asks for nothing else", async () => {
      await using context = await browser.browser.newContext({
        colorScheme,
        viewport: { width, height: 900 },
      });
      const page = await context.newPage();
      const watched = watch(page);

      await page.goto(server.url);

      expect(await page.title()).toBe("Refunds and webhooks");
      for (const { route, name, path } of OPERATIONS) {
        await goTo(page, route);
        await headingOf(page, name).waitFor();
        await page.getByText(path, { exact: true }).filter({ visible: true }).first().waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        expect(await findFaintTexts(page)).toEqual([]);
      }
      expect(await page.locator("html").getAttribute("class")).toBe(colorScheme);
      expect(watched).toEqual({ requests: [server.url], faults: [] });
    });
  });

  test("works from a file, without any server", async () => {
    await using context = await browser.browser.newContext();
    const page = await context.newPage();
    const watched = watch(page);

    await page.goto(fileOf("index.html"));

    for (const { route, name } of OPERATIONS) {
      await goTo(page, route);
      await headingOf(page, name).waitFor();
    }
    const outside = watched.requests.filter((url) => !url.startsWith("blob:"));
    expect({ ...watched, requests: outside }).toEqual({ requests: [fileOf("index.html")], faults: [] });
  });

  test("finds a field by its name", async () => {
    await using context = await browser.browser.newContext();
    const page = await context.newPage();
    const watched = watch(page);
    await page.goto(server.url);

    await page.getByTestId("search-trigger").click();
    await page.keyboard.type("softDescriptor");

    await page.getByText("request fields → softDescriptor").waitFor();
    expect(watched).toEqual({ requests: [server.url], faults: [] });
  });

  test("links in its menu to places within itself, and to its maker", async () => {
    await using context = await browser.browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);

    const links = await page
      .locator(".menu-content a")
      .evaluateAll((all) => all.map((a) => a.getAttribute("href")));

    expect(links).toEqual(expect.arrayContaining(["#/", "#/refunds", "#/webhooks", "#/events"]));
    expect(links.filter((href) => !href?.startsWith("#/"))).toEqual(["https://redocly.com/redoc/"]);
  });

  test("reports nothing about its readers, which the same page does with the switch turned", async () => {
    const silent = built.html.toString();
    const talking = silent.replace('"disableTelemetry":true', '"disableTelemetry":false');

    await using reader = await openInPublic(silent);
    await using control = await openInPublic(talking);
    const passTime = async () => {
      await reader.page.clock.runFor(5_000);
      await control.page.clock.runFor(5_000);
      return control.requests;
    };
    await expect.poll(passTime, { timeout: 20_000 }).toContain("https://otel.cloud.redocly.com/v1/traces");

    expect(reader.requests).toEqual([PUBLIC_URL]);
  });

  test("has compressed forms that are the same page", () => {
    expect(brotliDecompressSync(built.br).equals(built.html)).toBe(true);
    expect(gunzipSync(built.gz).equals(built.html)).toBe(true);
  });
});

test("the docs page of the sandbox is such a page as well", async () => {
  await using sandbox = await servePage(await readBuiltPage("sandbox.html"));
  await using context = await browser.browser.newContext();
  const page = await context.newPage();
  const watched = watch(page);

  await page.goto(`${sandbox.url}#/clock/advanceclock`);

  await headingOf(page, "Advance the clock").waitFor();
  expect(await findFaintTexts(page)).toEqual([]);
  expect(watched).toEqual({ requests: [sandbox.url], faults: [] });
});

/** Not an address of a local network, where Redoc never reports. It stands for the published page; no request leaves. */
const PUBLIC_URL = "https://docs.example.com/";

/** Opens a page at a public address, without a policy, with a clock that only the test moves. */
async function openInPublic(html: string) {
  const context = await browser.browser.newContext();
  const requests: string[] = [];
  await context.route("**/*", (route) => {
    requests.push(route.request().url());
    const isPage = route.request().url() === PUBLIC_URL;
    return isPage ? route.fulfill({ contentType: "text/html", body: html }) : route.abort();
  });
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(PUBLIC_URL);
  await page.getByRole("heading", { name: "Refunds and webhooks" }).waitFor();
  return { page, requests, [Symbol.asyncDispose]: () => context.close() };
}
