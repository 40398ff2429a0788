import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { button, TUESDAY, useConsole } from "../../helpers/console-page.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { startTestServer } from "../../helpers/server.ts";

const suite = useConsole();

/** Uses the page without a mouse: reaches everything with Tab, and uses it with Enter and by typing. */
function keyboard(page: Page) {
  const reach = async (control: Locator) => {
    await control.waitFor();
    const isFocused = () => control.evaluate((element) => element === document.activeElement);
    for (let count = 0; count < 120; count += 1) {
      if (await isFocused()) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach ${control}`);
  };
  return {
    async press(control: Locator) {
      await reach(control);
      await page.keyboard.press("Enter");
    },
    async write(field: Locator, text: string) {
      await reach(field);
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text);
    },
    async choose(field: Locator, option: string) {
      await reach(field);
      await page.keyboard.type(option);
    },
  };
}

/** A payment, a refund, a wait, a delivery that fails and is sent again, and a key that was used twice. */
async function liveThroughTheDay(page: Page): Promise<void> {
  const { press, write, choose } = keyboard(page);
  const link = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true });
  const field = (label: string | RegExp) => page.getByLabel(label);

  await press(link("Webhooks"));
  await press(button(page, "Subscribe the inbox"));
  await page.getByText("LIVE", { exact: true }).waitFor();
  await press(button(page, "Respond 500"));
  await page.getByText("It responds 500").waitFor();

  await press(link("Payments"));
  await press(page.getByText("New payment"));
  await write(field("Amount in dollars"), "40.00");
  await choose(page.locator(".form").getByLabel(/^Status/), "PROCESSING");
  await press(button(page, "Create payment"));
  await press(button(page, "Settle"));
  await page.getByText("SETTLED", { exact: true }).waitFor();

  await write(field("Amount in dollars"), "40.001");
  await press(button(page, "Issue refund"));
  await page.locator(".error").waitFor();
  expect(await field("Amount in dollars").getAttribute("aria-invalid")).toBe("true");
  await write(field("Amount in dollars"), "15.50");
  await write(field(/^requestKey/), "the-key");
  await press(button(page, "Issue refund"));
  await page.getByText("due Mon 30 Nov, 00:00 ET, Thanksgiving Day skipped").waitFor();
  await page.getByText("$24.50 left to refund").waitFor();

  await write(field(/^requestKey/), "the-key");
  await press(button(page, "Issue refund"));
  await page.getByText("409 DUPLICATE_REQUEST_KEY").waitFor();
  await page.getByText("The key belongs to rfd_").waitFor();

  await press(button(page, "+30 days"));
  await page.getByText("AUTHORIZED: the money is on its way.").waitFor();
  await page.getByText(/^It is .+: 1 refund authorized, \d deliver(y|ies) sent again\.$/).waitFor();

  await press(link("Requests"));
  await press(page.getByRole("row").filter({ hasText: "409" }).getByRole("link"));
  await page.getByText("nothing was refunded twice").waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: /^rfd_/ }).count()).toBeGreaterThan(0);

  await press(link("Webhooks"));
  await press(page.getByRole("row").filter({ hasText: "refund.authorized" }).getByRole("link"));
  await page.getByText("Attempt 1").waitFor();
  await page.getByText("500", { exact: true }).first().waitFor();
  await page.goBack();
  await press(button(page, "Respond 200"));
  await page.getByText("It responds 200").waitFor();
  await page.goForward();
  await press(button(page, "Redeliver"));
  await page.getByText("DELIVERED", { exact: true }).waitFor();
  await page.getByText("webhook-signature: v1,").first().waitFor();
}

test("a merchant can do a day's work at the console by the keyboard alone", { timeout: 60_000 }, async () => {
  // The day moves the clock, which all merchants of a sandbox share.
  await using server = await startTestServer({ realNow: () => TUESDAY });
  const { page, errors } = await suite.open(await createSandboxMerchant(server), { url: server.url });

  await liveThroughTheDay(page);

  // Chromium reports each response of 400 and more on the console, and the day has some.
  expect(errors.filter((error) => !error.includes("status of 4"))).toEqual([]);
});
