import { expect, test } from "vitest";
import { button, goTo, TUESDAY, useConsole } from "../../helpers/console.ts";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { startTestServer } from "../../helpers/server.ts";

const suite = useConsole();

test("more than a hundred refunds are all reached, found by status and text, and counted", async () => {
  await using server = await startTestServer({ realNow: () => TUESDAY });
  const merchant = await createSandboxMerchant(server);
  const { paymentId } = await merchant.create({ settledAt: TUESDAY.toISOString() });
  const issue = (name: string, value = 0.1) =>
    merchant.issue(
      refundOf(paymentId, { amount: dollars(value), requestKey: name, clientReferenceId: name }),
    );
  const oldest = (await issue("oldest")).body.paymentId;
  await Promise.all(Array.from({ length: 118 }, (_, index) => issue(`refund-${index}`)));
  const failed = (await issue("too-much", 1_000)).body.paymentId;
  const { page } = await suite.open(merchant, { route: `#/payments/${paymentId}`, url: server.url });
  const rows = (count: number) => page.getByText(`${count} row${count === 1 ? "" : "s"}.`).waitFor();

  await page.getByRole("link", { name: "All refunds of this payment" }).click();
  await page.getByRole("link", { name: failed }).waitFor();
  await button(page, "Show more").click();
  await page.getByRole("link", { name: oldest }).waitFor();
  await rows(120);
  await page.getByLabel("Status").selectOption("TERMINAL_FAILED");
  await rows(1);
  await page.getByText("AMOUNT_EXCEEDS_REFUNDABLE").waitFor();
  await page.getByLabel("Status").selectOption("PENDING");
  await page.getByLabel(/^Identifier/).fill("REFUND-11");
  await rows(9);
  await page.reload();
  await rows(9);
  expect(await page.getByLabel("Status").inputValue()).toBe("PENDING");
  await page.getByLabel(/^Identifier/).fill("no such text");
  await page.getByText("No matching refunds.").waitFor();

  await button(page, "+30 days").click();
  await page.getByText(/^It is .+: 119 refunds authorized\.$/).waitFor();
  await goTo(page, `refunds/${oldest}`);
  await page.getByText("AUTHORIZED: the money is on its way.").waitFor();
});
