import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import type { Browser } from "playwright-core";
import { defineProof } from "../../scripts/command/command.ts";
import { ROOT } from "../../scripts/command/root.ts";
import { ensureConsole } from "../../scripts/console/build-console.ts";
import { readConfig } from "../../server/config/config.ts";
import { startServer } from "../../server/process/start.ts";
import { wrapInSandbox } from "../../server/sandbox/sandbox.ts";
import { installChromium, launchBrowser } from "../helpers/browser.ts";
import { dollars, subscriptionTo } from "../helpers/factories.ts";
import { merchantAt } from "../helpers/sandbox.ts";
import { post } from "../helpers/server.ts";
import { makeTempDir } from "../helpers/temp-dir.ts";

/** A Tuesday before Thanksgiving, in Eastern daytime. */
const BEGIN = Date.parse("2026-11-24T15:00:00.000Z");
const SIZE = { width: 1120, height: 700 };

/** Creates the records for the pictures, and returns the addresses of the views by their names. */
async function createRecords(url: string): Promise<Record<string, string>> {
  const acme = merchantAt({ url }, { merchant: "acme", token: "sandbox_acme" });
  const refund = (value: number, order: string) =>
    acme.issue({ paymentId: "pay_recent", amount: dollars(value), requestKey: order });
  await post(url, "/v1/webhook/subscribe", subscriptionTo((await acme.sandbox("getInbox")).body.url));
  await refund(25.5, "order-1042");
  await refund(25.5, "order-1042"); // 409
  const [request] = (await acme.sandbox("listRequests", { query: { limit: 1 } })).body.items;
  await acme.sandbox("setInbox", { body: { status: 500 } });
  await refund(12, "order-1044");
  for (;;) {
    const [delivery] = (await acme.sandbox("listDeliveries", { query: { limit: 1 } })).body.items;
    if (!delivery?.attempts.some(({ status }) => status === 500)) continue;
    const views = { refund: "payments/pay_recent", request: `requests/${request?.requestId}` };
    return { ...views, delivery: `deliveries/${delivery.webhookId}` };
  }
}

/** Pictures of a page in light and dark as WebP, in base64: Playwright's own are PNG or JPEG, which are three times as large. */
async function takePictures(browser: Browser, address: string): Promise<[light: string, dark: string]> {
  const page = await browser.newPage({ viewport: SIZE });
  await page.goto(address);
  await page.getByLabel("Clock").getByText(" ET").first().waitFor();
  await page.locator("table, section > .card").first().waitFor();
  if (address.endsWith("pay_recent")) await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  const session = await page.context().newCDPSession(page);
  const take = async (colorScheme: "light" | "dark") => {
    await page.emulateMedia({ colorScheme });
    return (await session.send("Page.captureScreenshot", { format: "webp", quality: 70 })).data;
  };
  return [await take("light"), await take("dark")];
}

/** One drawing with both pictures, which shows the one for the reader's colour scheme. */
function toSvg(name: string, light: string, dark: string): string {
  const size = `width="${SIZE.width}" height="${SIZE.height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="The console: ${name}" ${size}>
<style>.dark { display: none } @media (prefers-color-scheme: dark) { .light { display: none } .dark { display: inline } }</style>
<image class="light" ${size} href="data:image/webp;base64,${light}"/>
<image class="dark" ${size} href="data:image/webp;base64,${dark}"/>
</svg>
`;
}

defineProof("screenshots").parse();
await ensureConsole();
const dataDir = await makeTempDir();
const options = { logger: pino({ level: "silent" }), realNow: () => new Date(BEGIN + performance.now()) };
const config = readConfig({ PORT: "0", DATA_DIR: dataDir });
const server = await startServer(config, options, (core) => wrapInSandbox(core, {}));
await installChromium();
const { browser, close } = await launchBrowser();
for (const [name, route] of Object.entries(await createRecords(server.url))) {
  const [light, dark] = await takePictures(browser, `${server.url}/console#/${route}`);
  await writeFile(join(ROOT, `docs/console/${name}.svg`), toSvg(name, light, dark));
}
await close();
await server.close();
await rm(dataDir, { recursive: true });
