import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { access, constants, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";
import { makeTempDir } from "./temp-dir.ts";

export interface TestBrowser extends AsyncDisposable {
  browser: Browser;
  close(): Promise<void>;
}

const ARGS = [
  "--no-sandbox", // Chromium's sandbox starts neither as root nor in most containers.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // Whatever a page tries, nothing leaves this machine.
];

/** For whatever is waited for in a browser. A busy machine must never reach it. */
const LIMIT_MS = 120_000;

// A browser that is just ending can still add a file.
const REMOVAL = { recursive: true, force: true, maxRetries: 5 } as const;

/**
 * Starts a real Chromium: the one that `CHROMIUM_PATH` names, or else the one from npm. Each start gets its own folder for
 * the browser's files, so that parallel browsers do not interfere, and `close` removes it.
 *
 * @param unpackedIn the folder for the one from npm; by default that of the test run
 */
export async function launchBrowser(unpackedIn?: string): Promise<TestBrowser> {
  const folder = await makeTempDir();
  // Also when a test run is interrupted: Playwright then kills the browser, and its files would remain.
  const removeAtExit = () => rmSync(folder, REMOVAL);
  process.once("exit", removeAtExit);
  const remove = async () => {
    await rm(folder, REMOVAL);
    process.off("exit", removeAtExit);
  };
  try {
    const browser = await start(folder, unpackedIn);
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

async function start(folder: string, unpackedIn?: string): Promise<Browser> {
  const executablePath =
    process.env.CHROMIUM_PATH ?? (await unpackedChromium(unpackedIn ?? inject("browserDir")));
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
 * The run's Chromium, unpacked on first use, which takes seconds and 250 MB. Two processes may begin at once, but only one
 * complete folder gets the final name.
 */
async function unpackedChromium(folder: string): Promise<string> {
  const known = join(folder, "unpacked");
  if (!existsSync(known)) {
    const unpacking = await mkdtemp(`${known}-`);
    await unpackChromium(unpacking);
    await rename(unpacking, known).catch((error) => {
      if (!existsSync(known)) throw error;
    });
  }
  return join(known, "chromium");
}

/**
 * The package unpacks into the system's temporary folder under fixed names, mistakes a half unpacked file of another process
 * for a complete one, and never cleans up. A separate process with our own temporary folder avoids that.
 */
async function unpackChromium(folder: string): Promise<void> {
  const program = `import chromium from "@sparticuz/chromium"; await chromium.executablePath();`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: folder },
  });
}

/** The package's own configuration looks for its font in /tmp only, and leaves a cache there. */
async function writeFontConfig(folder: string, fonts: string): Promise<string> {
  const path = join(folder, "fonts.conf");
  const folders = [fonts, "/usr/share/fonts"].map((name) => `<dir>${name}</dir>`).join("");
  const cache = `<cachedir>${join(folder, "fonts-cache")}</cachedir>`;
  await writeFile(path, `<?xml version="1.0"?><fontconfig>${folders}${cache}</fontconfig>\n`);
  return path;
}
