import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { posix } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import express, { type Request, type RequestHandler, type Router } from "express";
import Negotiator from "negotiator";
import { readGenerated } from "../../openapi/document/generated.ts";
import { ProblemError } from "../contract/problem.ts";
import { refuseMethod } from "./probes.ts";

const ROOT = new URL("../../", import.meta.url);
const DIST = new URL("docs/dist/", ROOT);
/** Static hosts also serve a file of this name for an unknown address. */
const NOT_FOUND_PAGE = "404.html";
const ENCODINGS = { br: ".br", gzip: ".gz", identity: "" } as const;

/** The contract, also as OpenAPI 3.0 for tools that do not read 3.1. */
const CONTRACTS = ["openapi.json", "openapi.yaml", "openapi-3.0.json", "openapi-3.0.yaml"] as const;

/** Media types by the ends of names. Markdown is sent as plain text, which every browser shows. */
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  yaml: "application/yaml",
  svg: "image/svg+xml",
  md: "text/plain; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

/** Pictures have styles and images of their own, which a browser needs when it shows one at full size. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

/** What a sandbox makes of a file before it sends it to the caller of a request. */
export type AdaptText = (text: string, fileName: string, request: Request) => string;

/** Serves what people and generators read: the docs, and the contract as JSON and YAML. */
export async function createPages({ serveDocs }: { serveDocs: boolean }, adapt?: AdaptText): Promise<Router> {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const name of CONTRACTS) {
    router.get(`/${name}`, serveText(readGenerated(name), name, adapt));
  }
  router.all(
    CONTRACTS.map((name) => `/${name}`),
    refuseMethod,
  );
  if (serveDocs) await addDocs(router, adapt);
  return router;
}

async function addDocs(router: Router, adapt: AdaptText | undefined): Promise<void> {
  // People who open the server's address in a browser want something to read; programs get a 404. Not a route: Express would
  // respond to OPTIONS by itself.
  router.use((request, response, next) => {
    const isRead = request.path === "/" && ["GET", "HEAD"].includes(request.method);
    if (!isRead || !prefersHtml(request)) return next();
    response.redirect(303, "/docs/");
  });
  // The page names the plain text beside it by relative addresses, as it does when it is read from a file.
  router.get("/docs", (_request, response) => response.redirect(308, "/docs/"));
  const list = await serveMarkdown("llms", adapt);
  const home = await serveDoc("index.html", adapt);
  router.get("/docs/", list ? inPreferredType(home, list) : home);
  for (const name of await listFiles()) {
    const page = /^(.+)\.html$/.exec(name)?.[1];
    // People leave the end out. The page itself has one address, to which its relative links and its search belong.
    if (page) router.get(`/docs/${page}`, (_request, response) => response.redirect(308, `${page}.html`));
    const serve = await serveDoc(name, adapt);
    const markdown = page === undefined ? undefined : await serveMarkdown(page, adapt);
    router.get(`/docs/${name}`, markdown ? inPreferredType(serve, markdown) : serve);
  }
  router.all(["/docs", "/docs/"], refuseMethod);
  router.use("/docs", leadPeopleOn(await serveDoc(NOT_FOUND_PAGE, adapt)));
}

/**
 * People get a page where no page is, and programs a problem. The links of that page are relative, so an address with more
 * parts, such as that of a guide in the repository, first leads to its last one.
 */
function leadPeopleOn(page: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const isRead = ["GET", "HEAD"].includes(request.method);
    if (!isRead || !prefersHtml(request)) return next();
    if (request.path.lastIndexOf("/") > 0) {
      return response.redirect(303, `/docs/${request.path.split("/").findLast(Boolean) ?? ""}`);
    }
    response.status(404).vary("Accept");
    return page(request, response, next);
  };
}

const prefersHtml = (request: Request) =>
  new Negotiator(request).mediaType(["application/json", "text/html"]) === "text/html";

/** The files of the site that existed at the start: only these names are served. */
async function listFiles(): Promise<string[]> {
  const names = await readdir(DIST).catch(() => []);
  return names.filter(
    (name) => /^[\w.-]+\.\w+$/.test(name) && typeOf(name) !== "" && name !== NOT_FOUND_PAGE,
  );
}

function typeOf(name: string): string {
  return TYPES[name.split(".").at(-1) ?? ""] ?? "";
}

async function serveDoc(name: string, adapt: AdaptText | undefined): Promise<RequestHandler> {
  const file = new URL(name, DIST);
  if (!existsSync(file)) return docsMissing;
  return !adapt && /\.(html|js)$/.test(name) ? serveCompressed(name) : serveFile(file, adapt);
}

/** The text beside a page; undefined where there is none. The list of all pages is the text of the home page. */
async function serveMarkdown(
  page: string,
  adapt: AdaptText | undefined,
): Promise<RequestHandler | undefined> {
  const file = new URL(page === "llms" || page === "index" ? "llms.txt" : `${page}.md`, DIST);
  return existsSync(file) ? serveFile(file, adapt, "text/markdown; charset=utf-8") : undefined;
}

/** Serves Markdown to programs that prefer it, and the page to browsers and to everybody who does not say. */
function inPreferredType(page: RequestHandler, markdown: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const preferred = new Negotiator(request).mediaType(["text/html", "text/markdown"]);
    response.vary("Accept");
    return (preferred === "text/markdown" ? markdown : page)(request, response, next);
  };
}

async function serveFile(file: URL, adapt: AdaptText | undefined, type?: string): Promise<RequestHandler> {
  return serveText(await readFile(file, "utf8"), posix.basename(file.pathname), adapt, type);
}

/** A sandbox adapts its texts to each caller, and compresses them then. */
function serveText(
  text: string,
  name: string,
  adapt: AdaptText | undefined,
  type = typeOf(name),
): RequestHandler {
  return async (request, response) => {
    const sent = adapt ? adapt(text, name, request) : text;
    if (name.endsWith(".html")) response.setHeader("Content-Security-Policy", contentSecurityPolicy(sent));
    if (name.endsWith(".svg")) response.setHeader("Content-Security-Policy", PICTURE_POLICY);
    response.setHeader("Content-Type", type);
    if (!adapt) return response.send(Buffer.from(sent)); // of a string, Express would change the media type
    const encoding = preferredEncoding(request, ["gzip"]);
    response.vary("Accept-Encoding");
    if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
    response.send(encoding === "gzip" ? await promisify(gzip)(sent) : Buffer.from(sent));
  };
}

/** Pages are compressed when they are built; their policy allows their inline scripts and the scripts of this server. */
async function serveCompressed(name: string): Promise<RequestHandler> {
  const file = await readCompressed(name);
  const policy = name.endsWith(".html") && contentSecurityPolicy(file.identity.toString("utf8"));
  return (request, response) => {
    const encoding = preferredEncoding(request, ["br", "gzip"]);
    if (policy) response.setHeader("Content-Security-Policy", policy);
    response.vary("Accept-Encoding");
    if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
    response.setHeader("Content-Type", typeOf(name));
    response.send(file[encoding]);
  };
}

type Encoding = keyof typeof ENCODINGS;

function preferredEncoding(request: Request, offered: readonly Encoding[]): Encoding {
  const accepted = new Negotiator(request).encodings();
  return offered.find((encoding) => accepted.includes(encoding)) ?? "identity";
}

async function readCompressed(name: string): Promise<Record<Encoding, Buffer>> {
  const read = (encoding: Encoding) => readFile(new URL(`${name}${ENCODINGS[encoding]}`, DIST));
  return { br: await read("br"), gzip: await read("gzip"), identity: await read("identity") };
}

const docsMissing: RequestHandler = () => {
  throw new ProblemError("NOT_FOUND", {
    detail: "The docs are not built. Run: npm run docs, and start again.",
  });
};

/** Allows the inline scripts of a page, by their hashes, and files of this server, such as the index of the search. */
export function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = scripts.map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
