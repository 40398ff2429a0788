import { rm } from "node:fs/promises";
import { pino } from "pino";
import type { Browser } from "playwright-core";
import { buildConsole, isConsoleCurrent } from "../../../scripts/console/build-console.ts";
import { readConfig } from "../../../server/config/config.ts";
import { IN_MEMORY } from "../../../server/config/store-settings.ts";
import { startServer } from "../../../server/start.ts";
import { launchBrowser } from "../../helpers/browser.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { record, single } from "./lib/compare.ts";

/*
 * How soon the console is painted and shows the payments of a sandbox, in a browser with the processor slowed down four
 * times. Each measurement uses a fresh context without a cache.
 */
const SLOWDOWN = 4;
const WARM_UP = 1;
const ROUNDS = 7;

type Sample = { readonly paintedMs: number; readonly filledMs: number };

async function open(browser: Browser, url: string): Promise<Sample> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.goto(`${url}/console`, { waitUntil: "commit" });
  const times = await page.waitForFunction(() => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    const isFilled = document.querySelector("tbody a") !== null;
    return paint && isFilled && { paintedMs: paint.startTime, filledMs: performance.now() };
  });
  const sample = (await times.jsonValue()) as Sample; // waits until there is one
  await context.close();
  return sample;
}

if (!(await isConsoleCurrent())) await buildConsole();
const server = await startServer(readConfig({ PORT: "0", DATA_DIR: IN_MEMORY }), {
  logger: pino({ level: "silent" }),
});
const unpackedIn = await makeTempDir();
const { browser, close } = await launchBrowser(unpackedIn);
const samples: Sample[] = [];
for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
  const sample = await open(browser, server.url);
  if (round >= WARM_UP) samples.push(sample);
}
await close();
await rm(unpackedIn, { recursive: true });
await server.close();

const figure = (what: string, times: readonly number[], atMost: number | undefined) =>
  single(`console, ${what}, CPU ${SLOWDOWN} times slower`, "ms", times, atMost);
await record("console-page", [
  figure(
    "first paint",
    samples.map(({ paintedMs }) => paintedMs),
    1_000,
  ),
  figure(
    "payments listed",
    samples.map(({ filledMs }) => filledMs),
    undefined,
  ),
]);
