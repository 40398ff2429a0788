import { readFile, rm } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { buildConsole, isConsoleCurrent } from "../../../scripts/console/build-console.ts";
import { buildDocs, isDocsCurrent } from "../../../scripts/docs/docs.ts";
import { launchBrowser } from "../../helpers/browser.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { repeat, single } from "./lib/compare.ts";
import { atEnd, bench, createStore, serveHere } from "./lib/frame.ts";

/*
 * How soon the docs can be read and the console shows payments, in a browser with the processor slowed down four times. Each
 * measurement uses a fresh context without a cache; the pages alternate, so that noise affects all.
 */
const SLOWDOWN = 4;
const ROUNDS = 7;

/** An expression for the page that is true when the heading is in view. */
const inView = (parent: string, heading: string) =>
  `[...(${parent}?.querySelectorAll("h1, h2") ?? [])].some((title) => {
    const { height, top } = title.getBoundingClientRect();
    return title.textContent.includes(${JSON.stringify(heading)}) && height > 0 && top >= 0 && top < innerHeight;
  })`;

type Sign = { readonly name: string; readonly expression: string; readonly atMostMs?: number };
type TimedPage = { readonly name: string; readonly route: string; readonly signs: readonly Sign[] };

const SEARCH = { name: "can be searched", expression: 'document.querySelector(".search-button")' };
const PAGES: readonly TimedPage[] = [
  {
    name: "docs, first page",
    route: "/docs/",
    signs: [
      {
        name: "readable",
        expression: inView('document.querySelector("main")', "Refund a bank payment"),
        atMostMs: 897,
      },
      SEARCH,
    ],
  },
  {
    name: "docs, operation by link",
    route: "/docs/reference.html#/refunds/issuerefund",
    // Redoc draws an operation only after its own script has been parsed and run, which takes nearly all of the time.
    signs: [
      {
        name: "readable",
        expression: inView('document.getElementById("refunds/issuerefund")', "Issue a refund"),
      },
      SEARCH,
    ],
  },
  {
    name: "console",
    route: "/console",
    signs: [
      {
        name: "first paint",
        expression: 'performance.getEntriesByName("first-contentful-paint").length > 0',
        atMostMs: 1_000,
      },
      { name: "payments listed", expression: 'document.querySelector("tbody a")' },
    ],
  },
];

/** A script for the page: records when each sign is there, one frame later, because then it has been painted. */
const watch = (signs: readonly Sign[]) => `globalThis.times = [];
  const signs = [${signs.map(({ expression }) => `() => ${expression}`).join(", ")}];
  const look = () => {
    signs.forEach((isThere, index) => {
      if (times[index] === undefined && isThere()) {
        times[index] = 0;
        requestAnimationFrame(() => (times[index] = performance.now()));
      }
    });
    if (signs.some((_, index) => !times[index])) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);`;

/** The milliseconds until each sign of the page was there. */
async function open(browser: Browser, url: string, { route, signs }: TimedPage): Promise<number[]> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.addInitScript(watch(signs));
  await page.goto(url + route, { waitUntil: "commit" });
  const isComplete = `globalThis.times?.filter(Boolean).length === ${signs.length} && globalThis.times`;
  const times = await page.waitForFunction(isComplete, undefined, { timeout: 60_000 });
  const taken = (await times.jsonValue()) as number[];
  await context.close();
  return taken;
}

await bench(async () => {
  if (!(await isDocsCurrent())) await buildDocs();
  if (!(await isConsoleCurrent())) await buildConsole();
  const server = await serveHere(await createStore("embedded"));
  const unpackedIn = await makeTempDir();
  atEnd(() => rm(unpackedIn, { recursive: true }));
  const { browser, close } = await launchBrowser(unpackedIn);
  atEnd(close);
  const openAll = async () => {
    const all: number[][] = [];
    for (const page of PAGES) all.push(await open(browser, server.url, page));
    return all;
  };
  const rounds = await repeat("pages", openAll, ROUNDS);
  const figures = PAGES.flatMap(({ name, signs }, page) =>
    signs.map((sign, index) => {
      const times = rounds.map((round) => round[page]?.[index] ?? Number.NaN);
      return single(`${name}, ${sign.name}, CPU ${SLOWDOWN} times slower`, "ms", times, sign.atMostMs);
    }),
  );
  const { length } = await readFile(new URL("../../../docs/dist/reference.html.br", import.meta.url));
  return { figures: [...figures, single("docs, the reference as brotli", "kB", [length / 1000], 700)] };
});
