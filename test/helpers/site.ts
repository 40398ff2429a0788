import { readFile } from "node:fs/promises";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { openTab } from "./browser.ts";
import { startTestServer } from "./server.ts";

export const DIST = new URL("../../docs/dist/", import.meta.url);

/** The file URL of a page, to read it without a server. */
export function fileOf(name: string): string {
  return new URL(name, DIST).href;
}

/** A file of the site as `npm start` serves it; the set-up of the run has built it. */
export function readBuilt(name: string): Promise<Buffer> {
  return readFile(new URL(name, DIST));
}

/** The site in a browser, served by the real server under its policy. */
export type OpenSite = AsyncDisposable & {
  /** The address of the page, without a route. */
  readonly url: string;
  /** Opens a page in a tab of its own, which ends with the test. */
  open(file: string, options?: BrowserContextOptions): Promise<Page>;
};

/** The windows in which a page is tried. */
export const DESK = { viewport: { width: 1440, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 } };

export async function openSite(): Promise<OpenSite> {
  const server = await startTestServer();
  const url = `${server.url}/docs/`;
  return {
    url,
    async open(file, options) {
      const page = await openTab(options);
      await page.goto(url + file);
      return page;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
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
  errors: string[];
};

/** Records the requests and errors of a page from now on. */
export function watch(page: Page): Watched {
  const watched: Watched = { requests: [], errors: [] };
  page.on("request", (request) => watched.requests.push(request.url()));
  page.on("requestfailed", (request) => watched.errors.push(`failed: ${request.url()}`));
  page.on("pageerror", (error) => watched.errors.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) watched.errors.push(message.text());
  });
  return watched;
}
