import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import express, { type RequestHandler, type Router } from "express";
import Negotiator from "negotiator";
import { refuseMethod } from "./probes.ts";
import { ProblemError } from "./problem.ts";

const ROOT = new URL("../../", import.meta.url);
const DIST = new URL("docs/dist/", ROOT);
const ENCODINGS = { br: ".br", gzip: ".gz", identity: "" } as const;

/** Serves what people and generators read: the docs, and the contract as JSON and YAML. */
export async function createPages(): Promise<Router> {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get(
    "/openapi.json",
    await serveText(new URL("openapi/generated/openapi.json", ROOT), "application/json"),
  );
  router.get(
    "/openapi.yaml",
    await serveText(new URL("openapi/generated/openapi.yaml", ROOT), "application/yaml"),
  );
  // The page names the plain text beside it by relative addresses, as it does when it is read from a file.
  router.get("/docs", (_request, response) => response.redirect(308, "/docs/"));
  router.get("/docs/", await serveDocs());
  for (const name of await listTexts()) {
    router.get(`/docs/${name}`, await serveText(new URL(name, DIST), typeOf(name)));
  }
  router.all(["/openapi.json", "/openapi.yaml", "/docs", "/docs/"], refuseMethod);
  return router;
}

/** The plain text that is built beside the page, and its drawings: these names and no others are served. */
async function listTexts(): Promise<string[]> {
  const names = await readdir(DIST).catch(() => []);
  return names.filter((name) => /^[\w-]+\.(md|txt|svg)$/.test(name));
}

/** Markdown goes as plain text, which every browser shows; some would save `text/markdown` to a file. */
function typeOf(name: string): string {
  return name.endsWith(".svg") ? "image/svg+xml" : "text/plain; charset=utf-8";
}

async function serveText(file: URL, type: string): Promise<RequestHandler> {
  const text = await readFile(file);
  return (_request, response) => {
    response.type(type).send(text);
  };
}

/** The page is compressed when it is built; its policy allows the scripts that are in it and nothing from elsewhere. */
async function serveDocs(): Promise<RequestHandler> {
  const page = await readPage();
  if (!page) return docsMissing;
  const policy = contentSecurityPolicy(page.identity.toString("utf8"));
  return (request, response) => {
    const encoding = preferredEncoding(request);
    response.set({ "Content-Security-Policy": policy, Vary: "Accept-Encoding" });
    if (encoding !== "identity") response.set("Content-Encoding", encoding);
    response.type("html").send(page[encoding]);
  };
}

type Encoding = keyof typeof ENCODINGS;

function preferredEncoding(request: express.Request): Encoding {
  const accepted = new Negotiator(request).encodings();
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding)) ?? "identity";
}

async function readPage(): Promise<Record<Encoding, Buffer> | undefined> {
  const read = (encoding: Encoding) => readFile(new URL(`index.html${ENCODINGS[encoding]}`, DIST));
  try {
    return { br: await read("br"), gzip: await read("gzip"), identity: await read("identity") };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const docsMissing: RequestHandler = () => {
  throw new ProblemError("NOT_FOUND", {
    detail: "The docs are not built. Run: npm run docs, and start again.",
  });
};

/** Allows exactly the inline scripts of a page, by their hashes. */
export function contentSecurityPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = scripts.map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
