import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { pino } from "pino";
import type { Browser, Page } from "playwright-core";
import { buildDocs, isDocsCurrent } from "../../../scripts/docs/docs.ts";
import { readConfig } from "../../../server/config/config.ts";
import { startServer } from "../../../server/start.ts";
import { launchBrowser } from "../../helpers/browser.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { record, single } from "./lib/compare.ts";

/*
 * How soon the docs can be read, in a browser with the processor slowed down four times: the first page, and an operation
 * that a link leads to. Each measurement uses a fresh context without a cache; the two alternate, so that noise affects
 * both.
 */
const SLOWDOWN = 4;
const WARM_UP = 1;
const ROUNDS = 7;

type Sample = { readonly readableMs: number; readonly readyMs: number };

type Place = {
  name: string;
  route: string;
  id: string;
  heading: string;
  readableWithinMs: number | undefined;
};

const HOME: Place = {
  name: "first page",
  route: "",
  id: "",
  heading: "Refund a bank payment",
  readableWithinMs: 897,
};
const OPERATION: Place = {
  name: "operation by link",
  route: "reference.html#/refunds/issuerefund",
  id: "refunds/issuerefund",
  heading: "Issue a refund",
  // Redoc draws an operation only after its own script has been parsed and run, which takes nearly all of the time.
  readableWithinMs: undefined,
};

async function open(browser: Browser, url: string, { route, id, heading }: Place): Promise<Sample> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.addInitScript(watchHeading, { id, heading });
  await page.goto(url + route, { waitUntil: "commit" });
  const sample = await readSample(page);
  await context.close();
  return sample;
}

/** Runs in the page: records when the heading is painted in its position, and when the search can be used. */
function watchHeading({ id, heading }: { id: string; heading: string }): void {
  const times: { readable?: number; ready?: number } = {};
  Object.assign(globalThis, { docsTimes: times });
  const look = () => {
    const place = id === "" ? document.querySelector("main") : document.getElementById(id);
    const title = [...(place?.querySelectorAll("h1, h2") ?? [])].find((one) =>
      one.textContent?.includes(heading),
    );
    const box = title?.getBoundingClientRect();
    // One frame later, the heading has been painted in this position.
    const isThere = box !== undefined && box.height > 0 && box.top >= 0 && box.top < innerHeight;
    if (isThere && times.readable === undefined) {
      times.readable = 0;
      requestAnimationFrame(() => {
        times.readable = performance.now();
      });
    }
    if (document.querySelector(".search-button")) times.ready ??= performance.now();
    if (times.readable === undefined || times.ready === undefined) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function readSample(page: Page): Promise<Sample> {
  const times = await page.waitForFunction(
    () => {
      const { docsTimes } = globalThis as unknown as { docsTimes?: { readable?: number; ready?: number } };
      return docsTimes?.readable && docsTimes.ready ? docsTimes : undefined;
    },
    undefined,
    { timeout: 60_000 },
  );
  const { readable = 0, ready = 0 } = (await times.jsonValue()) ?? {};
  return { readableMs: readable, readyMs: ready };
}

if (!(await isDocsCurrent())) await buildDocs();
const dataDir = await makeTempDir();
const ENCRYPTION_KEY = randomBytes(32).toString("base64");
const config = readConfig({ PORT: "0", DATA_DIR: dataDir, ENCRYPTION_KEY });
const server = await startServer(config, { logger: pino({ level: "silent" }) });
const unpackedIn = await makeTempDir();
const { browser, close } = await launchBrowser(unpackedIn);
const samples = new Map<Place, Sample[]>([
  [HOME, []],
  [OPERATION, []],
]);
for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
  for (const [place, taken] of samples) {
    const sample = await open(browser, `${server.url}/docs/`, place);
    if (round >= WARM_UP) taken.push(sample);
  }
}
await close();
await rm(unpackedIn, { recursive: true });
await server.close();
await rm(dataDir, { recursive: true });

const { length } = await readFile(new URL("../../../docs/dist/reference.html.br", import.meta.url));
const figures = [...samples].flatMap(([{ name, readableWithinMs }, taken]) => [
  single(
    `docs, ${name}, readable, CPU ${SLOWDOWN} times slower`,
    "ms",
    taken.map((one) => one.readableMs),
    readableWithinMs,
  ),
  single(
    `docs, ${name}, can be searched, CPU ${SLOWDOWN} times slower`,
    "ms",
    taken.map((one) => one.readyMs),
    undefined,
  ),
]);
await record("docs-page", [...figures, single("docs, the reference as brotli", "kB", [length / 1000], 700)]);
