import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import express, { type RequestHandler, type Response, type Router } from "express";
import { ProblemError } from "../contract/problem.ts";
import type { AdaptText } from "../http/docs-pages.ts";

/** Serves the built console. File names change with the content, so that a browser may cache everything but the page itself. */
export function createConsolePage(): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const setHeaders = (response: Response, path: string) => {
    const keep = path.endsWith(".html") ? "no-store" : "public, max-age=31536000, immutable";
    response.set({ "Content-Security-Policy": POLICY, "Cache-Control": keep });
  };
  if (!existsSync(`${DIST}index.html`)) router.get(["/console", "/console/"], consoleMissing);
  router.get("/console", (_request, response) => {
    setHeaders(response, "index.html");
    response.sendFile("index.html", { root: DIST, cacheControl: false }); // npx installs below ~/.npm, and Express hides dot folders
  });
  router.use("/console", express.static(DIST, { setHeaders, cacheControl: false, redirect: false }));
  return router;
}

const DIST = fileURLToPath(new URL("console/dist/", import.meta.url));

/**
 * Allows nothing from other origins, and nothing inline. By the last directive, the browser refuses to turn text into markup.
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

const consoleMissing: RequestHandler = () => {
  throw new ProblemError("NOT_FOUND", {
    detail: "The console is not built. Run: npm start, which builds it.",
  });
};

/** The address of the server in the contract's files. */
const WRITTEN_ADDRESS = "http://127.0.0.1:3000";

/** A name or an address with its port, and nothing that could end a string of the contract. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** Makes the contract name the address at which it is read. */
export const nameOwnAddress: AdaptText = (text, { headers: { host = "" } }) =>
  HOST.test(host) ? text.replaceAll(WRITTEN_ADDRESS, `http://${host}`) : text;
