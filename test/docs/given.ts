import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { buildDocs, isDocsCurrent } from "../../scripts/docs.ts";
import { contentSecurityPolicy } from "../../server/http/pages.ts";

const DIST = new URL("../../docs/dist/", import.meta.url);

/** A built page, as itself and compressed. */
export interface BuiltPage {
  html: Buffer;
  br: Buffer;
  gz: Buffer;
}

/** Where a page stands that is read without a server. */
export function fileOf(name: string): string {
  return new URL(name, DIST).href;
}

/** The page as `npm start` has it, built where it is stale. */
export async function readBuiltPage(name: string): Promise<BuiltPage> {
  if (!(await isDocsCurrent())) await buildDocs();
  const [html, br, gz] = await Promise.all(
    ["", ".br", ".gz"].map((ending) => readFile(new URL(name + ending, DIST))),
  );
  if (!html || !br || !gz) throw new Error("The build left out a file.");
  return { html, br, gz };
}

/** Serves the page at `/docs` alone, as the server does: compressed, under the same policy. */
export async function servePage({ html, br }: BuiltPage): Promise<{ url: string } & AsyncDisposable> {
  const policy = contentSecurityPolicy(html.toString());
  const server = createServer((request, response) => {
    if (request.url !== "/docs") return response.writeHead(404).end();
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Content-Encoding", "br");
    response.setHeader("Content-Security-Policy", policy);
    return response.end(br);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/docs`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Watched {
  requests: string[];
  /** Errors and warnings of the console, uncaught exceptions and failed requests. */
  faults: string[];
}

/** Records what a page asks for and what goes wrong in it, from now on. */
export function watch(page: Page): Watched {
  const watched: Watched = { requests: [], faults: [] };
  page.on("request", (request) => watched.requests.push(request.url()));
  page.on("requestfailed", (request) => watched.faults.push(`failed: ${request.url()}`));
  page.on("pageerror", (error) => watched.faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) watched.faults.push(message.text());
  });
  return watched;
}
