import { readFile } from "node:fs/promises";
import type { Browser, Locator, Page } from "playwright-core";
import { ensureDocs } from "../../scripts/docs/ensure-pages.ts";
import { sharedBrowser } from "./browser.ts";
import { startTestServer } from "./server.ts";

export const DIST = new URL("../../docs/dist/", import.meta.url);

/** The file URL of a page, to read it without a server. */
export function fileOf(name: string): string {
  return new URL(name, DIST).href;
}

/** A file of the site as `npm start` serves it, built when it is stale. */
export async function readBuilt(name: string): Promise<Buffer> {
  await ensureDocs();
  return readFile(new URL(name, DIST));
}

/** The site in a browser, served by the real server under its policy. */
export type OpenSite = AsyncDisposable & {
  readonly browser: Browser;
  /** The address of the page, without a route. */
  readonly url: string;
};

export async function openSite(): Promise<OpenSite> {
  await readBuilt("index.html");
  const server = await startTestServer();
  const browser = await sharedBrowser();
  return { browser, url: `${server.url}/docs/`, [Symbol.asyncDispose]: () => server.close() };
}

/** Goes to a route in the open page, as a link in it does. */
export async function goTo(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => location.assign(hash), route);
}

/** A heading's name begins with that of the link in it; that of an event ends in a tag. */
export function headingOf(page: Page, name: string): Locator {
  return page.getByRole("heading", {
    name: new RegExp(`${name.replaceAll(/[.()]/g, "\\$&")}(\\s*Webhook)?$`),
  });
}

export type Watched = {
  requests: string[];
  /** Errors and warnings of the console, uncaught exceptions and failed requests. */
  faults: string[];
};

/** Records the requests and errors of a page from now on. */
export function watch(page: Page): Watched {
  const watched: Watched = { requests: [], faults: [] };
  page.on("request", (request) => watched.requests.push(request.url()));
  page.on("requestfailed", (request) => watched.faults.push(`failed: ${request.url()}`));
  page.on("pageerror", (error) => watched.faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) watched.faults.push(message.text());
  });
  return watched;
}
