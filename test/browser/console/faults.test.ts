import { describe, expect, test } from "vitest";
import { button, useConsole } from "../../helpers/console-page.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";

const suite = useConsole();

describe("the view of faults", () => {
  test("arms a fault, and shows the call that it happened to, which the list of requests shows, too", async () => {
    const merchant = await createSandboxMerchant(suite.server);
    const { paymentId } = await merchant.create();
    const { page, errors } = await suite.open(merchant, { route: "#/faults" });

    await page.getByLabel("What goes wrong").selectOption("CLOSED_AFTER");
    await page.getByLabel(/^delayMs/).fill("5");
    await button(page, "Arm").click();
    await page.getByText("is not a setting of CLOSED_AFTER; leave it out").waitFor();
    expect((await merchant.sandbox("listFaults")).body.items).toEqual([]);
    await page.getByLabel(/^delayMs/).fill("");
    await button(page, "Arm").click();
    await page.getByText("1 to come").waitFor();
    await merchant.issue(refundOf(paymentId, { requestKey: "lost" })).catch(() => undefined);
    await page.getByText("used up").waitFor();
    await page.getByRole("link", { name: "the request" }).click();

    await page.getByRole("heading", { name: "issueRefund" }).waitFor();
    await page.getByText("CLOSED_AFTER", { exact: true }).waitFor();
    await page.getByRole("link", { name: /^rfd_/ }).waitFor();
    await page.goto(`${suite.server.url}/console#/requests`);
    await page.getByRole("link", { name: "Fault CLOSED_AFTER" }).click();
    await button(page, "Clear all").click();
    await page.getByText("No faults. The sandbox works as it should.").waitFor();
    expect(errors.filter((error) => !error.includes("400 (Bad Request)"))).toEqual([]);
  });
});
