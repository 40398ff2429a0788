/** Opens the sandbox's console in a browser. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { openTab } from "./browser.ts";
import { subscriptionTo } from "./factories.ts";
import type { Merchant } from "./sandbox.ts";
import { post, useTestServer } from "./server.ts";

/** A Tuesday before Thanksgiving, in Eastern daytime. */
export const TUESDAY = new Date("2026-11-24T15:00:00.000Z");

type OpenOptions = {
  /** The first view, such as `#/payments/pay_settled`. */
  readonly route?: string;
  /** Another server than the one of the suite. */
  readonly url?: string;
  readonly context?: BrowserContextOptions;
};

/** A sandbox for all tests of a suite, whose clock begins on that Tuesday. */
export function useConsole() {
  const server = useTestServer({ realNow: () => TUESDAY });
  return {
    server,
    /** The console as a merchant sees it, and its errors: exceptions, and errors on its console. It ends with the test. */
    async open({ token }: Pick<Merchant, "token">, { route = "", url, context }: OpenOptions = {}) {
      const page = await openTab(context);
      await page.addInitScript((value) => sessionStorage.setItem("console-token", value), token);
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      await page.goto(`${url ?? server.url}/console${route}`);
      await page.getByLabel("Clock").getByText(" ET").first().waitFor();
      return { page, errors };
    },
  };
}

/** The button with exactly this name. */
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

const LOADED = "table, :scope > .card, article, .empty, .problem";

/** Goes to a view by its address, as a link in a message does. */
export async function goTo(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${route}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  // Waits until the view has loaded its records, or says that there are none.
  await page.locator("main > section:last-child").locator(LOADED).filter({ visible: true }).first().waitFor();
}

/** Subscribes a merchant's inbox to all of its events. */
export async function subscribeInbox({ url }: { readonly url: string }, { sandbox, token }: Merchant) {
  const inbox = (await sandbox("getInbox")).body;
  await post(url, "/v1/webhook/subscribe", subscriptionTo(inbox.url), { token });
}
