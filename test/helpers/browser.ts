/** Installs and starts Chromium for tests of pages. */
import { existsSync, rmSync } from "node:fs";
import { access, constants, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { ROOT } from "../../scripts/shared/root.ts";
import { installPackages, runAsReader } from "./process.ts";
import { makeTempDir } from "./temp-dir.ts";

export type TestBrowser = AsyncDisposable & { browser: Browser; close(): Promise<void> };

const ARGS = [
  "--no-sandbox", // Chromium's sandbox starts neither as root nor in most containers.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // Whatever a page tries, nothing leaves this machine.
];

const FOLDER = join(ROOT, ".cache/chromium");
const UNPACKED = join(FOLDER, "unpacked");

/** How long to wait in a browser: longer than a busy machine ever needs. */
const LIMIT_MS = 120_000;

// While a browser ends, it can still add a file, so the removal is tried again.
const REMOVAL = { recursive: true, force: true, maxRetries: 5 } as const;

/**
 * Starts a real Chromium: the one that `CHROMIUM_PATH` names, or else the one that `installChromium` has installed. Each
 * start gets its own folder for the browser's files, so that parallel browsers do not interfere, and `close` removes it.
 */
export async function launchBrowser(): Promise<TestBrowser> {
  const folder = await makeTempDir();
  // Also when a test run is interrupted: Playwright then kills the browser, and its files would remain.
  const removeAtExit = () => rmSync(folder, REMOVAL);
  process.once("exit", removeAtExit);
  const remove = async () => {
    await rm(folder, REMOVAL);
    process.off("exit", removeAtExit);
  };
  try {
    const browser = await start(folder);
    const close = async () => {
      await browser.close();
      await remove();
    };
    return { browser, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}

let shared: Promise<TestBrowser> | undefined;

/** The browser of this process, which its test files share: its start takes seconds. It ends with the process. */
export async function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return (await shared).browser;
}

/** A tab of the shared browser that shares nothing with others, and ends with the test. */
export async function openTab(options?: BrowserContextOptions): Promise<Page> {
  const context = await (await sharedBrowser()).newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}

async function start(folder: string): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? join(UNPACKED, "chromium");
  await access(executablePath, constants.X_OK);
  const fontConfig = await writeFontConfig(folder, join(dirname(executablePath), "fonts"));
  const env = { ...process.env, HOME: folder, TMPDIR: folder, FONTCONFIG_FILE: fontConfig };
  const browser = await chromium.launch({ executablePath, args: ARGS, env, timeout: LIMIT_MS });
  browser.on("context", (context) => {
    context.setDefaultTimeout(LIMIT_MS);
  });
  return browser;
}

/**
 * Installs and unpacks the Chromium of a package, unless that was done before. It is not among the packages of the project,
 * because it takes 330 MB, and most commands need no browser.
 */
export async function installChromium(): Promise<void> {
  if (process.env.CHROMIUM_PATH !== undefined) return;
  const installed = await installPackages(join(import.meta.dirname, "chromium"), FOLDER);
  if (installed === "present" && existsSync(UNPACKED)) return;
  await rm(UNPACKED, REMOVAL);
  const unpacking = await mkdtemp(`${UNPACKED}-`);
  // The package unpacks into the temporary folder, and mistakes a half unpacked file for a complete one.
  const program = `import chromium from "@sparticuz/chromium"; await chromium.executablePath();`;
  const command = [process.execPath, "--input-type=module", "--eval", program];
  await runAsReader(command, FOLDER, { TMPDIR: unpacking });
  await rename(unpacking, UNPACKED);
}

/** Vitest calls it before the tests that need a browser. */
export const setup = installChromium;

/** The package's own configuration looks for its font in /tmp only, and leaves a cache there. */
async function writeFontConfig(folder: string, fonts: string): Promise<string> {
  const path = join(folder, "fonts.conf");
  const folders = [fonts, "/usr/share/fonts"].map((name) => `<dir>${name}</dir>`).join("");
  const cache = `<cachedir>${join(folder, "fonts-cache")}</cachedir>`;
  await writeFile(path, `<?xml version="1.0"?><fontconfig>${folders}${cache}</fontconfig>\n`);
  return path;
}
