import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFaintTexts } from "./contrast.ts";
import { fileOf, goTo, headingOf, type OpenSite, openSite, readBuilt, watch } from "./given.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

const PLACES = [
  { route: "#/refunds/issuerefund", name: "Issue a refund", text: "/v1/refunds" },
  { route: "#/webhooks/subscribetowebhooks", name: "Subscribe to webhooks", text: "/v1/webhook/subscribe" },
  { route: "#/states", name: "States of a refund", text: "TERMINAL_FAILED" },
  { route: "#/decisions/problems/d07", name: "D07 Body of a problem", text: "violations" },
] as const;

describe("the docs page", () => {
  describe.each([
    { colorScheme: "light", width: 1440 },
    { colorScheme: "dark", width: 1440 },
    { colorScheme: "light", width: 390 },
    { colorScheme: "dark", width: 390 },
  ] as const)("in $colorScheme, $width wide", ({ colorScheme, width }) => {
    test("shows its places under the server's policy, and asks for nothing else", async () => {
      const viewport = { width, height: 900 };
      await using context = await site.browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      const watched = watch(page);

      await page.goto(site.url);

      expect(await page.title()).toBe("Refunds and webhooks");
      for (const { route, name, text } of PLACES) {
        await goTo(page, route);
        await headingOf(page, name).waitFor();
        await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        expect(await findFaintTexts(page)).toEqual([]);
      }
      expect(await page.locator("html").getAttribute("class")).toBe(colorScheme);
      expect(watched).toEqual({ requests: [site.url], faults: [] });
    });
  });

  test("works from a file, without any server", async () => {
    await using context = await site.browser.newContext();
    const page = await context.newPage();
    const watched = watch(page);

    await page.goto(fileOf("index.html"));

    for (const { route, name } of PLACES) {
      await goTo(page, route);
      await headingOf(page, name).waitFor();
    }
    const outside = watched.requests.filter((url) => !url.startsWith("blob:"));
    expect({ ...watched, requests: outside }).toEqual({ requests: [fileOf("index.html")], faults: [] });
  });

  test("reports nothing about its readers, which the same page does with the switch turned", async () => {
    const silent = (await readBuilt("index.html")).toString();
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

  test("has the logos of its maker in itself", async () => {
    const html = (await readBuilt("index.html")).toString();

    expect(html).not.toContain("cdn.redoc.ly");
    await using context = await site.browser.newContext();
    const page = await context.newPage();
    await page.goto(site.url);
    const logo = page.getByRole("link", { name: /API docs by/ }).locator("img");
    await logo.waitFor();
    expect(await logo.getAttribute("src")).toMatch(/^data:image\/svg\+xml/);
    expect(await logo.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
  });

  test("has compressed forms that are the same page, the smaller one at most 800 KB", async () => {
    const html = await readBuilt("index.html");
    const br = await readBuilt("index.html.br");

    expect(brotliDecompressSync(br).equals(html)).toBe(true);
    expect(gunzipSync(await readBuilt("index.html.gz")).equals(html)).toBe(true);
    expect(br.length).toBeLessThanOrEqual(800_000);
  });
});

/** Not an address of a local network, where Redoc never reports. It stands for the published page; no request leaves. */
const PUBLIC_URL = "https://docs.example.com/";

/** Opens a page at a public address, without a policy, with a clock that only the test moves. */
async function openInPublic(html: string) {
  const context = await site.browser.newContext();
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
