import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { goTo, subscribeInbox, TUESDAY, useConsole } from "../../helpers/console-page.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, type Merchant } from "../../helpers/sandbox.ts";

/** For every text that a merchant may choose: markup, a change of the writing direction, and characters of four bytes. */
const HOSTILE = '<img src=x onerror="document.title=1">\u202E😀';

const suite = useConsole();

/** A merchant with one of each record. */
async function createBusyMerchant(): Promise<{ merchant: Merchant; routes: readonly string[] }> {
  const merchant = await createSandboxMerchant(suite.server);
  await subscribeInbox(suite.server, merchant);
  const { paymentId } = await merchant.create({ settledAt: TUESDAY.toISOString() });
  const refund = (await merchant.issue(refundOf(paymentId, { requestKey: "first" }))).body.paymentId;
  await merchant.issue(refundOf(paymentId, { requestKey: "first" }));
  await merchant.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });
  const [delivery] = (await merchant.sandbox("listDeliveries")).body.items;
  const [event] = (await merchant.sandbox("listEvents")).body.items;
  const [request] = (await merchant.sandbox("listRequests")).body.items;
  return {
    merchant,
    routes: [
      "payments",
      `payments/${paymentId}`,
      "refunds",
      `refunds/${refund}`,
      "requests",
      `requests/${request?.requestId}`,
      "events",
      `events/${event?.eventId}`,
      `about/${refund}`,
      "webhooks",
      `subscriptions/${delivery?.subscriptionKey}`,
      `deliveries/${delivery?.webhookId}`,
      "faults",
      "access",
    ],
  };
}

describe("every view", () => {
  test.each(["light", "dark"] as const)(
    "in %s, full and empty, wide and (in light) narrow, has no violation that axe finds, and fits",
    { timeout: 60_000 },
    async (colorScheme) => {
      const { merchant, routes } = await createBusyMerchant();
      const empty = await createSandboxMerchant(suite.server);
      const context = { colorScheme, bypassCSP: true };
      const full = await suite.open(merchant, { context });
      const bare = await suite.open(empty, { context });
      const found: string[] = [];
      for (const [page, shown] of [
        [full.page, routes],
        [bare.page, ["payments", "refunds", "requests", "events", "webhooks"]],
      ] as const) {
        await page.addScriptTag({ content: axe.source });
        for (const width of colorScheme === "dark" ? [1280] : [1280, 390]) {
          await page.setViewportSize({ width, height: 900 });
          for (const route of shown) {
            await goTo(page, route);
            const folded = page.locator(".fold:not([open]) > summary");
            while ((await folded.count()) > 0) await folded.first().click();
            found.push(...(await violationsOf(page)).map((id) => `${width} ${route}: ${id}`));
            const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
            if (scrollWidth > width) found.push(`${width} ${route}: is ${scrollWidth} wide`);
          }
        }
      }
      expect(found).toEqual([]);
    },
  );

  test("is reached by its address, and shows its record", async () => {
    const { merchant, routes } = await createBusyMerchant();
    const { page, errors } = await suite.open(merchant);
    const records = routes.filter((route) => route.includes("/"));

    for (const route of records) {
      await page.goto(`${suite.server.url}/console#/${route}`);
      await page.reload();
      const [, id = ""] = route.split("/");
      await page.getByText(id).first().waitFor();
    }

    expect(records).toHaveLength(7);
    expect(errors).toEqual([]);
  });

  test("shows nothing of another merchant at any address", async () => {
    const { merchant, routes } = await createBusyMerchant();
    const { page } = await suite.open(await createSandboxMerchant(suite.server));
    for (const route of routes) {
      await goTo(page, route);
      // Either the page of a record says that it does not exist, or the list says that it is empty.
      if (route.includes("/")) await page.locator(".problem, .empty").first().waitFor();
    }
    await goTo(page, "payments");
    await page.getByText("No payments.").waitFor();

    expect(await page.content()).not.toContain(merchant.merchant);
    expect(await page.getByRole("row").count()).toBe(0);
  });
});

describe("hostile text", () => {
  test("in every field is shown as text, and breaks nothing", async () => {
    const merchant = await createSandboxMerchant(suite.server);
    await subscribeInbox(suite.server, merchant);
    const long = (length: number) => HOSTILE.padEnd(length - 2, "W");
    const { paymentId } = await merchant.create({ clientReferenceId: long(255), requestKey: long(255) });
    const fields = { clientReferenceId: long(255), requestKey: `${long(254)}2` };
    const refund = (await merchant.issue(refundOf(paymentId, fields))).body.paymentId;
    await merchant.issue(refundOf(paymentId, { ...fields, softDescriptor: HOSTILE }));
    await merchant.issue(refundOf(long(64), { requestKey: "unknown" }));
    await merchant.sandbox("emitEvent", { body: { type: "account.linked", resourceId: long(64) } });
    const [delivery] = (await merchant.sandbox("listDeliveries")).body.items;
    const [refused] = (await merchant.sandbox("listRequests")).body.items;
    const { page } = await suite.open(merchant, { context: { viewport: { width: 390, height: 800 } } });

    for (const route of [
      "payments",
      `payments/${refund}`,
      "requests",
      `requests/${encodeURIComponent(fields.requestKey)}`,
      `requests/${refused?.requestId}`,
      "events",
      "webhooks",
      `deliveries/${delivery?.webhookId}`,
      `about/${encodeURIComponent(long(64))}`,
    ]) {
      await goTo(page, route);
      await page.getByText("<img src=x").first().waitFor({ state: "attached" });
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.title()).toBe("Sandbox console");
      expect(await page.evaluate(() => document.documentElement.scrollWidth), route).toBeLessThanOrEqual(390);
    }
  });
});

async function violationsOf(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 160)}`);
  });
}
