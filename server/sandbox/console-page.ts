import { readdir, readFile } from "node:fs/promises";
import express, { type RequestHandler, type Router } from "express";
import Negotiator from "negotiator";
import { ProblemError } from "../contract/problem.ts";

const DIST = new URL("console/dist/", import.meta.url);

/**
 * Nothing from other origins, nothing inline. Text never becomes markup; the last directive makes the browser enforce that.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

type ConsolePage = {
  router: Router;
  /** The name of the script that sends the reference's samples; undefined when the console is not built. */
  tryItScript: string | undefined;
};

/**
 * Serves the built console. File names change with the content, so that a browser may cache everything but the page itself.
 */
export async function createConsolePage(): Promise<ConsolePage> {
  const router = express.Router({ caseSensitive: true, strict: true });
  const names = (await readdir(DIST).catch(() => [])).filter((name) => /\.(html|js|css)$/.test(name));
  if (names.length === 0) router.get(["/console", "/console/"], consoleMissing);
  for (const name of names) {
    const path = name === "index.html" ? ["/console", "/console/"] : `/console/${name}`;
    router.get(path, await serveFile(name));
  }
  return { router, tryItScript: names.find((name) => /^try-it-\w+\.js$/.test(name)) };
}

async function serveFile(name: string): Promise<RequestHandler> {
  const read = (ending: string) => readFile(new URL(name + ending, DIST));
  const contents = { br: await read(".br"), gzip: await read(".gz"), identity: await read("") };
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "";
  const keep = name === "index.html" ? "no-store" : "public, max-age=31536000, immutable";
  return (request, response) => {
    const accepted = new Negotiator(request).encodings();
    const encoding = (["br", "gzip"] as const).find((one) => accepted.includes(one)) ?? "identity";
    response.set({ "Content-Security-Policy": POLICY, "Cache-Control": keep, Vary: "Accept-Encoding" });
    if (encoding !== "identity") response.set("Content-Encoding", encoding);
    response.setHeader("Content-Type", type);
    response.send(contents[encoding]);
  };
}

const consoleMissing: RequestHandler = () => {
  throw new ProblemError("NOT_FOUND", {
    detail: "The console is not built. Run: node scripts/pages/build-pages.ts, and start again.",
  });
};
