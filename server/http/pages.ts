import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import express, { type RequestHandler, type Router } from "express";
import Negotiator from "negotiator";
import { refuseMethod } from "./probes.ts";
import { ProblemError } from "./problem.ts";

const ROOT = new URL("../../", import.meta.url);
const ENCODINGS = { br: ".br", gzip: ".gz", identity: "" } as const;

/** Serves what people and generators read: the docs page, and the contract as JSON and YAML. */
export async function createPages(): Promise<Router> {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get("/openapi.json", await serveText("openapi/generated/openapi.json", "application/json"));
  router.get("/openapi.yaml", await serveText("openapi/generated/openapi.yaml", "application/yaml"));
  router.get("/docs", await serveDocs("index.html"));
  router.all(["/openapi.json", "/openapi.yaml", "/docs"], refuseMethod);
  return router;
}

/** The docs page of the sandbox's own calls. */
export async function createSandboxPages(): Promise<Router> {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.get("/docs/sandbox", await serveDocs("sandbox.html"));
  router.all("/docs/sandbox", refuseMethod);
  return router;
}

async function serveText(path: string, type: string): Promise<RequestHandler> {
  const text = await readFile(new URL(path, ROOT));
  return (_request, response) => {
    response.type(type).send(text);
  };
}

/** The page is compressed when it is built; its policy allows the scripts that are in it and nothing from elsewhere. */
async function serveDocs(name: string): Promise<RequestHandler> {
  const page = await readPage(name);
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

async function readPage(name: string): Promise<Record<Encoding, Buffer> | undefined> {
  const read = (encoding: Encoding) => readFile(new URL(`docs/dist/${name}${ENCODINGS[encoding]}`, ROOT));
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
