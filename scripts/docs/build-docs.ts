/** Builds the documentation site from docs/ into docs/dist with VitePress, and follows its links. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build } from "vitepress";
import { defineCommand, secondsSince } from "../shared/define-command.ts";
import { buildIfStale } from "../shared/files.ts";
import { ROOT } from "../shared/root.ts";
import { REFERENCE_NAMES, referencePage } from "./addresses.ts";
import { renderReference } from "./reference.ts";

const DOCS = join(ROOT, "docs");
const DIST = join(DOCS, "dist");
/** VitePress copies these files into the site, and knows them as targets of links. */
const PUBLIC = join(DOCS, "public");
const BASE = "/docs/";
const SOURCES = [
  "docs/*.*",
  "docs/{console,examples,guides,operators}/**/*.*",
  "docs/.vitepress/{*.ts,theme/*.*}",
  "client/README.md",
  "openapi/{,sandbox/}*.md",
  "openapi/generated/*.yaml",
  "openapi/{document,diff}/*.ts",
  "scripts/{shared,docs}/*.ts",
  "node_modules/{@redocly/cli,vitepress}/package.json",
];

/** Builds the site, unless its last build is of the same sources. */
export const ensureDocs = () => buildIfStale(DIST, SOURCES, buildDocs);

/** Builds the site in `docs/dist`. Throws for a link to a page or a heading that does not exist. */
async function buildDocs(): Promise<void> {
  rmSync(PUBLIC, { recursive: true, force: true });
  mkdirSync(PUBLIC, { recursive: true });
  for (const name of REFERENCE_NAMES)
    writeFileSync(join(PUBLIC, referencePage(name)), await renderReference(name));
  for (const name of ["openapi.yaml", "openapi-3.0.yaml"])
    cpSync(join(ROOT, "openapi/generated", name), join(PUBLIC, name));
  await build(DOCS);
  const pages = new Map(
    globSync("**/*.html", { cwd: DIST }).map((name) => [name, readFileSync(join(DIST, name), "utf8")]),
  );
  const dead = [...pages].flatMap(([name, html]) => deadLinks(name, html, pages));
  if (dead.length > 0) throw new Error(`These links lead nowhere:\n${[...new Set(dead)].join("\n")}`);
  writeFileSync(join(DIST, "policy.txt"), contentSecurityPolicy([...pages.values()]));
}

/** The links of a page to pages that do not exist, and to headings that do not exist. The reference checks its own. */
function deadLinks(name: string, html: string, pages: ReadonlyMap<string, string>): string[] {
  if (name.includes("reference")) return [];
  return Array.from(html.matchAll(/<a\b[^>]* href="([^"]+)"/g), ([, href = ""]) => href)
    .filter((href) => !/^https?:/.test(href))
    .filter((href) => {
      const [path = "", anchor = ""] = href.split("#");
      const file =
        path === ""
          ? name
          : path.startsWith(BASE)
            ? path.slice(BASE.length)
            : posix.join(posix.dirname(name), path);
      const page = pages.get(file === "" || file.endsWith("/") ? `${file}index.html` : file);
      if (page === undefined) return !existsSync(join(DIST, file));
      return (
        anchor !== "" && !anchor.startsWith("/") && !page.includes(` id="${decodeURIComponent(anchor)}"`)
      );
    })
    .map((href) => `${name}: ${href}`.replaceAll(".html", ".md"));
}

/** Allows the inline scripts of all pages, by their hashes, and files of the server that the pages come from. */
function contentSecurityPolicy(pages: readonly string[]): string {
  const hashes = pages.flatMap((html) =>
    Array.from(html.matchAll(/<script\b(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g), ([, text = ""]) => {
      return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    }),
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(hashes)].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

if (import.meta.main) {
  const { ifStale } = defineCommand(
    "docs",
    "Builds the site in docs/dist, as HTML pages with Markdown beside them.",
  )
    .option("--if-stale", "only when a source has changed since the last build")
    .parse()
    .opts();
  const start = performance.now();
  try {
    await (ifStale ? ensureDocs() : buildDocs());
    console.log(`docs: built in docs/dist in ${secondsSince(start)}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1); // a failed build of VitePress leaves its workers running
  }
}
