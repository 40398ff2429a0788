import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { callsOf } from "../../../scripts/docs/reference/calls.ts";
import { DESK, goTo, openSite, PHONE } from "../../helpers/site.ts";
import { forSuite } from "../../helpers/suite.ts";

const site = forSuite(openSite);

/** Opens the dialog of a call by the button at its sample. */
async function tryCall(page: Page, { route, summary }: { route: string; summary: string }) {
  await goTo(page, `#/${route}`);
  await page.getByRole("button", { name: `Try it: ${summary}`, exact: true }).click();
  return page.getByRole("dialog", { name: summary, exact: true });
}

const REFUND = { route: "refunds/issuerefund", summary: "Issue a refund" };

test("a sample is changed, refused, sent for the chosen merchant, and found in the console both times", async () => {
  const page = await site.open("reference.html", DESK);
  const dialog = await tryCall(page, REFUND);
  const link = dialog.getByRole("link", { name: "See this request in the console" });

  await dialog.getByLabel("Body").fill("{}");
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("400 Bad Request").waitFor();
  const { instance } = JSON.parse(await dialog.locator("pre").innerText());
  expect(await link.getAttribute("href")).toBe(`/console#/requests/${encodeURIComponent(instance)}`);
  await dialog.getByLabel("Access token").selectOption("sandbox_globex");
  const body = { paymentId: "pay_globex", amount: { currency: "USD", value: 0.01 }, requestKey: "tried" };
  await dialog.getByLabel("Body").fill(JSON.stringify(body));
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("201 Created").waitFor();
  const { paymentId } = JSON.parse(await dialog.locator("pre").innerText());
  const [shown] = await Promise.all([page.waitForEvent("popup"), link.click()]);

  await shown.getByRole("heading", { level: 1, name: "issueRefund" }).waitFor();
  await shown.getByRole("link", { name: paymentId }).first().waitFor();
  expect(await shown.getByLabel("Merchant").inputValue()).toBe("sandbox_globex");
});

test("the dialog fits a phone", async () => {
  const page = await site.open("reference.html", PHONE);
  const dialog = await tryCall(page, REFUND);

  expect(await dialog.evaluate((shown) => shown.scrollWidth - shown.clientWidth)).toBe(0);
  const { x, width } = (await dialog.boundingBox()) ?? { x: -1, width: 0 };
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(PHONE.viewport.width);
});

test("every sample is sent as it stands, from a fresh sandbox on, and succeeds", async () => {
  const page = await site.open("reference.html", DESK);
  await fetch(new URL("/sandbox/reset", site.url), {
    method: "POST",
    headers: { Authorization: "Bearer sandbox_acme" },
  });
  const wrong: string[] = [];
  let count = 0;

  for (const name of ["openapi", "sandbox"] as const) {
    const contract = readContract(name);
    for (const call of callsOf(contract.document)) {
      const [status] = contract.operation(call.operationId).statuses;
      const dialog = await tryCall(page, call);
      await dialog.getByRole("button", { name: "Send" }).click();
      const outcome = await dialog.locator(".outcome strong").innerText();
      if (!outcome.startsWith(`${status} `)) wrong.push(`${call.operationId}: ${outcome}`);
      await dialog.getByRole("button", { name: "Close" }).click();
      count += 1;
    }
  }

  expect(wrong).toEqual([]);
  expect(count).toBe(36);
});
