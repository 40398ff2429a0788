import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenSite, openSite, watch } from "./helpers/site.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => site?.[Symbol.asyncDispose]());

/** The tasks of a new reader, and how each is reached from the front page: by links, or by one search. */
const TASKS: readonly {
  readonly task: string;
  readonly by: { readonly links: readonly string[] } | { readonly search: string };
  readonly shows: string;
}[] = [
  { task: "start", by: { links: ["Start in five minutes"] }, shows: "npm ci && npm start" },
  { task: "make a first refund", by: { links: ["Your first refund"] }, shows: "/v1/refunds" },
  { task: "verify a webhook", by: { links: ["Verify a webhook"] }, shows: "webhook-signature" },
  { task: "learn what 409 means", by: { search: "409" }, shows: "DUPLICATE_REQUEST_KEY" },
  { task: "learn when it is authorized", by: { links: ["all states"] }, shows: "Three business days" },
  { task: "test a failing receiver", by: { search: "failing receiver" }, shows: "after a failed attempt" },
  { task: "find the decision about over-refund", by: { search: "over-refund" }, shows: "D11" },
  { task: "see the last changes", by: { links: ["What changed in each release"] }, shows: "Unreleased" },
  { task: "go live", by: { links: ["How to go live"] }, shows: "ENCRYPTION_KEY" },
  {
    task: "see whether it is proven",
    by: { links: ["The tests that prove each clause"] },
    shows: "enforced by tests",
  },
];

describe("a newcomer on the front page", () => {
  test.each(TASKS)("can $task within two clicks or one search", async ({ by, shows }) => {
    await using context = await site.browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const { faults } = watch(page);
    await page.goto(site.url);

    if ("search" in by) await searchFor(page, by.search);
    else for (const name of by.links) await page.getByRole("main").getByRole("link", { name }).click();

    await page.getByRole("main").getByText(shows).first().waitFor();
    if (!("search" in by)) expect(by.links.length).toBeLessThanOrEqual(2);
    expect(faults).toEqual([]);
  });
});

/** Opens the first hit. */
async function searchFor(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill(words);
  await page.getByRole("dialog").getByRole("link").first().click();
}
