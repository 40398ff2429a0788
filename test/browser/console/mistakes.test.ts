/** What the console shows when the user makes a mistake: a wrong token, a lost response, wrong input. */
import { describe, expect, test } from "vitest";
import { button, useConsole } from "../../helpers/console-page.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";

const suite = useConsole();

test("a token that the sandbox does not know is called refused, not offline, until another one is chosen", async () => {
  const merchant = await createSandboxMerchant(suite.server);
  const { page } = await suite.open(merchant, { route: "#/access" });

  await page.getByLabel("Access token", { exact: true }).fill("sandbox_nobody");
  await button(page, "Use this token").click();
  await page.getByRole("heading", { name: "Access token refused" }).waitFor();
  await page.getByText("401 UNAUTHORIZED").waitFor();
  await page.getByText("The sandbox doesn't know the token …nobody.").waitFor();

  expect(await page.getByText("Offline").count()).toBe(0);
  await page.getByLabel("Access token", { exact: true }).fill(merchant.token);
  await button(page, "Use this token").click();
  await page.getByRole("heading", { name: "Use another access token" }).waitFor();
  await page.getByText("Business day", { exact: true }).waitFor();
});

describe("a refund whose response is lost", () => {
  test("shows that, keeps what was typed, and is repeated with the same requestKey", async () => {
    const merchant = await createSandboxMerchant(suite.server);
    const { paymentId } = await merchant.create();
    const { page } = await suite.open(merchant, { route: `#/payments/${paymentId}` });
    const sent: string[] = [];
    await page.route("**/v1/refunds", async (route) => {
      const { requestKey } = route.request().postDataJSON() as { requestKey: string };
      sent.push(requestKey);
      const response = await route.fetch(); // the sandbox has issued the refund
      if (sent.length === 1) await route.abort();
      else await route.fulfill({ response });
    });

    await page.getByLabel("Amount in dollars").fill("15.50");
    await page.getByLabel(/^Your reference/).fill("order-7");
    await button(page, "Issue refund").click();
    await page.getByText("No response", { exact: true }).waitFor();
    await page.getByText("$84.50 left to refund").waitFor();
    expect(await page.getByLabel("Amount in dollars").inputValue()).toBe("15.50");
    expect(await page.getByLabel(/^Your reference/).inputValue()).toBe("order-7");
    await button(page, "Issue refund").click();
    await page.getByText("409 DUPLICATE_REQUEST_KEY").waitFor();
    await button(page, "New key").click();
    await button(page, "Issue refund").click();
    await page.getByText("$69.00 left to refund").waitFor();

    const [first, second, third] = sent;
    expect([second === first, third === first]).toEqual([true, false]);
    await expect.poll(() => page.getByLabel(/^Your reference/).inputValue()).toBe("");
    expect(await page.getByLabel(/^requestKey/).inputValue()).not.toBe(third);
  });
});
