import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import Negotiator from "negotiator";
import { readGenerated } from "../../openapi/document/read-generated.ts";
import { refuseMethod } from "./health-probes.ts";

/** Serves what people and generators read: the docs, and the contract as JSON and YAML. */
export async function createPages({ serveDocs }: { serveDocs: boolean }, adapt?: AdaptText): Promise<Router> {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const name of CONTRACTS) {
    const text = readGenerated(name);
    const bytes = Buffer.from(text); // one for all responses, because a caller may read none
    router.get(`/${name}`, (request, response) => {
      response.setHeader("Content-Type", `application/${name.split(".").at(-1)}`);
      response.send(adapt ? Buffer.from(adapt(text, request)) : bytes); // of a string, Express would change the media type
    });
  }
  router.all(
    CONTRACTS.map((name) => `/${name}`),
    refuseMethod,
  );
  if (serveDocs) await addDocs(router);
  return router;
}

const DIST = fileURLToPath(new URL("../../docs/dist/", import.meta.url));

/** The contract, also as OpenAPI 3.0 for tools that do not read 3.1. */
const CONTRACTS = ["openapi.json", "openapi.yaml", "openapi-3.0.json", "openapi-3.0.yaml"] as const;

/** Adapts the contract to the caller of a request, as a sandbox does. */
export type AdaptText = (text: string, request: Request) => string;

async function addDocs(router: Router): Promise<void> {
  // A browser that opens the server's address gets the docs; programs get a 404. Not a route: Express would respond to OPTIONS
  // by itself.
  router.use((request, response, next) => {
    if (request.path !== "/" || !isReadInBrowser(request)) return next();
    response.redirect(303, "/docs/");
  });
  // The `type` of a problem leads to the text about its code (D07).
  router.get("/problems/:name", ({ params: { name } }, response, next) => {
    if (!/^[a-z-]{1,64}$/.test(name)) return next();
    response.redirect(303, `/docs/problems#${name.replaceAll("-", "_")}`);
  });
  router.get("/docs", (_request, response) => response.redirect(308, "/docs/"));
  // The build writes it, with the hashes of the pages' inline scripts.
  const policy = await readFile(`${DIST}policy.txt`, "utf8").catch(() => undefined);
  if (policy === undefined) {
    router.get("/docs/{*path}", docsMissing);
  } else {
    const setHeaders = (response: Response, path: string) => {
      if (path.endsWith(".html")) response.setHeader("Content-Security-Policy", policy);
      // As plain text, which every browser shows.
      if (path.endsWith(".md")) response.setHeader("Content-Type", "text/plain; charset=utf-8");
    };
    router.use("/docs", express.static(DIST, { setHeaders, extensions: ["html"], redirect: false }));
    router.use("/docs", (request, response, next) => {
      if (!isReadInBrowser(request)) return next();
      response.status(404).setHeader("Content-Security-Policy", policy);
      response.sendFile("404.html", { root: DIST });
    });
  }
  router.all(["/docs", "/docs/"], refuseMethod);
}

const isReadInBrowser = (request: Request) =>
  ["GET", "HEAD"].includes(request.method) &&
  new Negotiator(request).mediaType(["application/json", "text/html"]) === "text/html";

const docsMissing: RequestHandler = (_request, response) => {
  response
    .status(404)
    .type("text/plain")
    .send("The docs are not built. Run `npm run docs`, and start again.\n");
};
