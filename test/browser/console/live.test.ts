/** The parts of the console that change by themselves: the clock, countdowns and new records. */
import { describe, expect, test } from "vitest";
import { button, subscribeInbox, TUESDAY, useConsole } from "../../helpers/console-page.ts";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { startTestServer } from "../../helpers/server.ts";

const suite = useConsole();

describe("the clock", () => {
  test("says what is due next and what has happened, and goes to an Eastern time", async () => {
    await using server = await startTestServer({ realNow: () => TUESDAY });
    const merchant = await createSandboxMerchant(server);
    await subscribeInbox(server, merchant);
    const { paymentId } = await merchant.create({ settledAt: TUESDAY.toISOString() });
    await merchant.issue(refundOf(paymentId, { amount: dollars(1), requestKey: "a" }));
    await merchant.issue(refundOf(paymentId, { amount: dollars(2), requestKey: "b" }));
    const { page } = await suite.open(merchant, { url: server.url });

    await page.getByText("Tue 24 Nov, 10:00 ET").first().waitFor();
    await page.getByText("2026-11-24 15:00 UTC").waitFor();
    await page.getByText("Next due: 2 refunds become AUTHORIZED on Mon 30 Nov, 00:00 ET").waitFor();
    await page.getByLabel("To (ET)").fill("2026-11-26T08:00");
    await button(page, "Go").click();
    await page.getByText("Not a business day: Thanksgiving Day").waitFor();
    await page.getByText("It is Thu 26 Nov, 08:00 ET: 0 refunds authorized.").waitFor();
    expect((await merchant.sandbox("getClock")).body.now).toBe("2026-11-26T13:00:00.000Z");
    await button(page, "To next due").click();
    await page.getByText("It is Mon 30 Nov, 00:00 ET: 2 refunds authorized.").waitFor();
    await page.getByText("Nothing is scheduled.").waitFor();
    await button(page, "+1 hour").click();
    await page.getByText("It is Mon 30 Nov, 01:00 ET").waitFor();
  });
});

test("a subscription gets all events, those of categories, or those that are named", async () => {
  const merchant = await createSandboxMerchant(suite.server);
  const { page } = await suite.open(merchant, { route: "#/webhooks" });
  const subscribe = async (path: string, type: string, details: readonly string[]) => {
    await page.getByLabel("url").fill(`https://merchant.example.com/${path}`);
    await page.getByLabel("secretKey").fill("a-secret-of-the-merchant");
    await page.getByLabel("Events", { exact: true }).selectOption(type);
    for (const detail of details) await page.getByRole("checkbox", { name: detail, exact: true }).check();
    await button(page, "Subscribe").click();
  };
  /** The subscription is listed, and the form is empty again. */
  const done = async (wanted: string) => {
    await page.getByText(wanted, { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("url").inputValue()).toBe("");
  };
  const subscriptions = async () => (await merchant.sandbox("listSubscriptions")).body.items;

  await page.getByText("Subscribe your own server").click();
  await subscribe("none", "CATEGORY", []);
  await page.locator(".field .error").waitFor();
  expect(await page.locator(":focus").getAttribute("name")).toBe("/subscriptionDetails/details");
  expect(await page.getByRole("checkbox").count()).toBe(3);
  await subscribe("categories", "CATEGORY", ["CUSTOMER", "PAYMENT"]);
  await done("CUSTOMER, PAYMENT");
  expect(await page.locator(".field .error").count()).toBe(0);
  await subscribe("events", "EVENT", ["refund.terminal_failed"]);
  await done("refund.terminal_failed");
  await subscribe("all", "ALL", []);
  await done("all events");

  expect((await subscriptions()).map(({ subscriptionDetails }) => subscriptionDetails)).toEqual([
    { type: "ALL" },
    { type: "EVENT", details: ["refund.terminal_failed"] },
    { type: "CATEGORY", details: ["CUSTOMER", "PAYMENT"] },
  ]);

  await page.getByText(String((await subscriptions())[0]?.subscriptionKey)).click();
  await page.getByText("the text of its secretKey").waitFor();
});

test("the merchant is chosen on the page", async () => {
  const { page } = await suite.open({ token: "sandbox_acme" });

  await page.getByLabel("Merchant").selectOption("globex");
  await page.getByRole("link", { name: "pay_globex" }).waitFor();
});
