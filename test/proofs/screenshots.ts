/** `npm run proof -- screenshots`: takes the pictures in docs/console. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureConsole } from "../../scripts/console/build-console.ts";
import { defineProof } from "../../scripts/shared/define-command.ts";
import { ROOT } from "../../scripts/shared/root.ts";
import { startSandbox } from "../../server/sandbox/index.ts";
import { installChromium, launchBrowser } from "../helpers/browser.ts";
import { dollars, refundOf, subscriptionTo } from "../helpers/factories.ts";
import { post } from "../helpers/server.ts";

defineProof("screenshots").parse();
await ensureConsole();
await installChromium();
await using sandbox = await startSandbox();
await post(sandbox.url, "/v1/webhook/subscribe", subscriptionTo((await sandbox.inbox.read()).url));
await sandbox.inbox.set({ status: 500 });
const order = refundOf("pay_recent", { amount: dollars(25.5), requestKey: "order-1042" });
for (const _ of ["201", "409"]) await post(sandbox.url, "/v1/refunds", order);
const [request] = (await sandbox.requests.list({ limit: 1 })).items;
const [delivery] = await sandbox.delivered();
const viewport = { width: 1120, height: 700 };
const size = `width="${viewport.width}" height="${viewport.height}"`;
await using chromium = await launchBrowser();
const page = await chromium.browser.newPage({ viewport });
// WebP: the formats that Playwright has are three times as large.
const session = await page.context().newCDPSession(page);
for (const [name, route] of [
  ["refund", "payments/pay_recent"],
  ["request", `requests/${request?.requestId}`],
  ["delivery", `deliveries/${delivery?.webhookId}`],
]) {
  await page.goto(`${sandbox.url}/console#/${route}`);
  await page.locator("table, section > .card").first().waitFor();
  if (name === "refund") await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  // One drawing with both pictures, which shows the one for the reader's colour scheme.
  const images: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 });
    images.push(`<image class="${colorScheme}" ${size} href="data:image/webp;base64,${data}"/>`);
  }
  const style =
    ".dark { display: none } @media (prefers-color-scheme: dark) { .light { display: none } .dark { display: inline } }";
  const text = `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="The console: ${name}" ${size}>
<style>${style}</style>\n${images.join("\n")}\n</svg>\n`;
  await writeFile(join(ROOT, `docs/console/${name}.svg`), text);
}
