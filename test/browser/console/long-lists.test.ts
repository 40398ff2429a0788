import { sql } from "kysely";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { useConsole } from "../../helpers/console.ts";
import { dollars } from "../../helpers/factories.ts";
import { createSandboxMerchant, type Merchant } from "../../helpers/sandbox.ts";

const PAYMENTS = 3_000;

const suite = useConsole();

async function createPayments({ merchant }: Merchant): Promise<void> {
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, settled_at, history, sequence, created_at)
    select 'pay_many_' || ${merchant} || '_' || number, ${merchant}, 'DEBIT', 'SETTLED', 10000, timestamp '2026-10-01' + number * interval '1 s',
      '[{"status":"SETTLED","at":"2026-10-01T00:00:00.000Z"}]', 0, timestamp '2026-10-01' + number * interval '1 s'
    from generate_series(1, ${PAYMENTS}::integer) as number`.execute(suite.server.database.db);
}

/** How many rows have been loaded, as the end of the list says. */
async function rowsLoaded(page: Page): Promise<number> {
  const text = (await page.locator(".end").textContent()) ?? "";
  return Number(/^([\d,]+)/.exec(text)?.[1]?.replaceAll(",", ""));
}

/** Scrolls to the end of the loaded rows, again and again, until the given number is loaded. */
async function scrollUntil(page: Page, rows: number): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        return rowsLoaded(page);
      },
      { interval: 1 },
    )
    .toBeGreaterThanOrEqual(rows);
}

describe("a list that is longer than anybody reads", () => {
  test("of thousands of payments scrolls to its end, and stays current", async () => {
    const merchant = await createSandboxMerchant(suite.server);
    await createPayments(merchant);
    const { page, errors } = await suite.open(merchant);
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).search));
    await page.getByRole("link", { name: /_3000$/ }).waitFor();

    await scrollUntil(page, PAYMENTS);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByRole("link", { name: /_1$/ }).waitFor();

    expect(await page.getByRole("row").count()).toBeLessThan(80);
    // Each page was requested once, with the contract's limit of a hundred.
    const pages = requested.filter((query) => query.includes("cursor="));
    expect(new Set(pages).size).toBe(pages.length);
    expect(pages.every((query) => query.includes("limit=100"))).toBe(true);
    expect(pages.length).toBeGreaterThanOrEqual(29);
    await merchant.create({ amount: dollars(66.6) });
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByText("$66.60").first().waitFor();
    expect(await rowsLoaded(page)).toBe(PAYMENTS + 1);
    expect(errors).toEqual([]);
  });
});
