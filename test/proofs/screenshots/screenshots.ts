import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import type { Browser, Page } from "playwright-core";
import { defineProof, secondsSince } from "../../../scripts/command/command.ts";
import { hashFiles, replaceFile } from "../../../scripts/command/files.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { ensureConsole } from "../../../scripts/pages/ensure-pages.ts";
import { readConfig } from "../../../server/config/config.ts";
import { startServer } from "../../../server/start.ts";
import { installChromium, launchBrowser } from "../../helpers/browser.ts";
import { dollars, subscriptionTo } from "../../helpers/factories.ts";
import { merchantAt } from "../../helpers/sandbox.ts";
import { post } from "../../helpers/server.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";

const FOLDER = join(ROOT, "docs/console");
const STAMP = join(FOLDER, "sources.sha256");

/** A Tuesday before Thanksgiving, in Eastern daytime. */
const BEGIN = Date.parse("2026-11-24T15:00:00.000Z");
const SIZE = { width: 1120, height: 700 };
const QUALITY = 70;

type Records = { readonly url: string; readonly deliveryId: string; readonly requestId: string };

/** The pictures, by name: the view that is shown, and the steps before the picture is taken. */
const VIEWS: Readonly<
  Record<string, (records: Records) => { route: string; before?: (page: Page) => Promise<void> }>
> = {
  payments: () => ({ route: "payments" }),
  refund: () => ({
    route: "payments/pay_recent",
    before: (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)),
  }),
  request: ({ requestId }) => ({ route: `requests/${requestId}` }),
  webhooks: () => ({ route: "webhooks" }),
  delivery: ({ deliveryId }) => ({ route: `deliveries/${deliveryId}` }),
  faults: () => ({
    route: "faults",
    before: (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)),
  }),
  coverage: () => ({ route: "coverage" }),
  scenario: () => ({
    route: "scenarios",
    before: async (page) => {
      await page.getByRole("button", { name: /^Play: See the refund authorized/ }).click();
      await page.locator(".status.passed").nth(3).waitFor();
    },
  }),
};

/** Takes the pictures of the console for its guide, from a sandbox in which a day has passed. */
export async function takeScreenshots(): Promise<void> {
  await ensureConsole();
  const dataDir = await makeTempDir();
  const startedAt = performance.now();
  const server = await startServer(readConfig({ PORT: "0", DATA_DIR: dataDir }), {
    logger: pino({ level: "silent" }),
    realNow: () => new Date(BEGIN + performance.now() - startedAt),
  });
  await installChromium();
  const { browser, close } = await launchBrowser();
  try {
    const records = await liveThroughADay(server.url);
    await mkdir(FOLDER, { recursive: true });
    for (const [name, view] of Object.entries(VIEWS)) {
      const shot = { url: server.url, ...view(records) };
      const light = await takePicture(browser, shot, "light");
      const dark = await takePicture(browser, shot, "dark");
      await replaceFile(join(FOLDER, `${name}.svg`), toSvg(name, { light, dark }));
    }
    await replaceFile(STAMP, await hashPictured());
  } finally {
    await close();
    await server.close();
    await rm(dataDir, { recursive: true });
  }
}

/** Whether the pictures show the present console. Their sources are compared, because fonts differ between machines. */
export async function areScreenshotsCurrent(): Promise<boolean> {
  return (await readFile(STAMP, "utf8").catch(() => "none")).trim() === (await hashPictured()).trim();
}

async function hashPictured(): Promise<string> {
  return `${await hashFiles([
    "server/sandbox/console/{,data/,parts/,views/}*.{ts,tsx,css}",
    "docs/shared.css",
    "openapi/sandbox/scenarios.arazzo.yaml",
    "test/proofs/screenshots/screenshots.ts",
  ])}\n`;
}

/** Creates the records for the pictures: refunds in every state, a key that was used twice, and a delivery that failed. */
async function liveThroughADay(url: string): Promise<Records> {
  const acme = merchantAt({ url }, { merchant: "acme", token: "sandbox_acme" });
  const { sandbox } = acme;
  const refund = (paymentId: string, value: number, order: string) =>
    acme.issue({
      paymentId,
      amount: dollars(value),
      requestKey: `refund-${order}`,
      clientReferenceId: order,
    });

  const inbox = (await sandbox("getInbox")).body.url;
  const secretKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  await post(url, "/v1/webhook/subscribe", subscriptionTo(inbox, { secretKey }));
  for (const [value, order, status] of [
    [1250, "order-1050", "SETTLED"],
    [8.4, "order-1051", "PROCESSING"],
    [4321.05, "order-1052", "SETTLED"],
  ] as const)
    await acme.create({ amount: dollars(value), clientReferenceId: order, status });
  await refund("pay_settled", 19.99, "order-1041");
  await refund("pay_recent", 25.5, "order-1042");
  await refund("pay_recent", 25.5, "order-1042");
  const [newest] = (await sandbox("listRequests", { query: { limit: 1 } })).body.items;
  await refund("pay_failed", 100, "order-1043");
  await sandbox("setInbox", { body: { status: 500 } });
  await refund("pay_processing", 12, "order-1044");
  await sandbox("armFault", { body: { kind: "LATE", hours: 24 } });
  await sandbox("armFault", { body: { kind: "UNAVAILABLE", times: 3, retryAfter: 2 } });
  await refund("pay_recent", 1, "order-1045");
  for (;;) {
    const [delivery] = (await sandbox("listDeliveries", { query: { limit: 1 } })).body.items;
    if (delivery && delivery.attempts.length > 0)
      return { url, deliveryId: delivery.webhookId, requestId: newest?.requestId ?? "" };
  }
}

type Shot = { url: string; route: string; before?: (page: Page) => Promise<void> };

/** A picture as WebP, in base64. */
async function takePicture(
  browser: Browser,
  { url, route, before }: Shot,
  colorScheme: "light" | "dark",
): Promise<string> {
  await using context = await browser.newContext({ viewport: SIZE, colorScheme });
  const page = await context.newPage();
  page.on("dialog", (dialog) => dialog.accept()); // a scenario asks before it removes the data
  await page.goto(`${url}/console#/${route}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByLabel("Clock").getByText(" ET").first().waitFor();
  await page.locator("table, section > .card, article.card, meter").first().waitFor();
  await before?.(page);
  const session = await context.newCDPSession(page);
  // The page's own screenshots are PNG or JPEG only, which are three times as large.
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  return data;
}

const ONE_OF_TWO =
  ".dark { display: none } @media (prefers-color-scheme: dark) { .light { display: none } .dark { display: inline } }";

/**
 * The docs show drawings as SVG only, so both pictures are embedded in one, which shows the picture for the reader's colour
 * scheme.
 */
function toSvg(name: string, { light, dark }: { light: string; dark: string }): string {
  const { width, height } = SIZE;
  const size = `width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="The console: ${name}" viewBox="0 0 ${width} ${height}" ${size}>
<style>${ONE_OF_TWO}</style>
<image class="light" ${size} href="data:image/webp;base64,${light}"/>
<image class="dark" ${size} href="data:image/webp;base64,${dark}"/>
</svg>
`;
}

if (import.meta.main) {
  defineProof("screenshots").parse();
  const start = performance.now();
  await takeScreenshots();
  console.log(`screenshots: ${Object.keys(VIEWS).length} in docs/console (${secondsSince(start)})`);
}
