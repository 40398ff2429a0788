import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { button, goTo, TUESDAY, useConsole } from "../../helpers/console.ts";
import { makeDataDir } from "../../helpers/databases.ts";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { findFreePort } from "../../helpers/network/local-server.ts";
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

test("the inbox shows its secret once, is known after a restart, and gets many deliveries again", async () => {
  const dataDir = await makeDataDir();
  const options = { dataDir, env: { PORT: String(await findFreePort()) }, realNow: () => TUESDAY };
  const before = await startTestServer(options);
  const merchant = await createSandboxMerchant(before);
  const { page } = await suite.open(merchant, { route: "#/webhooks", url: before.url });
  page.on("dialog", (dialog) => dialog.accept());
  const emit = (resourceId: string) =>
    merchant.sandbox("emitEvent", { body: { type: "account.linked", resourceId } });
  const state = (name: string) => page.getByRole("row").filter({ hasText: name });

  await button(page, "Subscribe the inbox").click();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
  await button(page, "Respond 500").click();
  await page.getByText("It responds 500.").waitFor();
  await emit("acc_1");
  await emit("acc_2");
  await emit("cus_1");
  await state("PENDING").nth(2).waitFor();
  await merchant.sandbox("advanceClock", { body: { by: "PT6S" } }); // the second retry comes five minutes later
  await state("acc_2")
    .getByText(/^in 4 min \d+ s$/)
    .waitFor();
  await before.close();
  await page.getByText("Offline").waitFor();

  await using _after = await startTestServer(options);
  await page.getByText(/^A receiver .* It responds 200\. Its subscription is sub_/).waitFor();
  await page.getByText("Offline").waitFor({ state: "detached" });
  expect(await button(page, "Subscribe the inbox").count()).toBe(0);
  await button(page, "Respond 200").click();
  await page.getByText("It responds 200.").waitFor();
  await page.getByLabel("State").selectOption("PENDING");
  await page.getByLabel(/^Event, resource/).fill("acc_");
  await page.getByText("2 rows.").waitFor();
  await merchant.sandbox("advanceClock", { body: { by: "PT10M" } });
  await page.getByLabel("State").selectOption("DELIVERED");
  await state("DELIVERED").nth(1).waitFor();

  const [delivered] = (await merchant.sandbox("listDeliveries", { query: { state: "DELIVERED" } })).body
    .items;
  const path = { webhookId: delivered?.webhookId ?? "" };
  const { payload, attempts } = (await merchant.sandbox("getDelivery", { path })).body;
  const signature = new Webhook(secret).sign(path.webhookId, TUESDAY, payload);
  expect(attempts.at(-1)?.headers).toMatchObject({ "webhook-signature": signature });
  await page.reload();
  await page.getByText("It responds 200.").waitFor();
  expect(await page.getByText(secret).count()).toBe(0);
});
