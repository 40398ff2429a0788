import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Source } from "../../openapi/document/contract.ts";
import { type Contract, readContract } from "../../openapi/document/contract.ts";
import { type Heading, toAnchor } from "../../openapi/document/headings.ts";
import { ROOT } from "../command/redocly.ts";
import { type Release, readReleases } from "./changes.ts";
import { mapHeadings, mapLinks, toPublished } from "./markdown.ts";
import {
  createFindOperation,
  type DocumentedOperation,
  type FindOperation,
  findTarget,
  type Page,
  type PlacedHeading,
  readPages,
} from "./pages.ts";

/** Everything that the site is made from. */
export type Site = {
  readonly published: Contract;
  readonly sandbox: Contract;
  readonly pages: readonly Page[];
  readonly findOperation: FindOperation;
  readonly releases: readonly Release[];
};

export async function readSite(): Promise<Site> {
  const [published, sandbox] = [readContract("openapi"), readContract("sandbox")];
  const findOperation = createFindOperation([published.document, sandbox.document]);
  const [released, current] = ["openapi/released", "openapi/generated/openapi.yaml"].map((path) =>
    join(ROOT, path),
  ) as [string, string];
  const [pages, releases] = await Promise.all([readPages(), readReleases(released, current)]);
  return { published, sandbox, pages, findOperation, releases };
}

/** How one form of the site writes addresses. */
export type Rendering = {
  /** The address of a page, or of a heading in it. */
  page(page: Page, heading?: PlacedHeading): string;
  operation(operation: DocumentedOperation): string;
  /** The address of another file of the site. */
  file(name: string): string;
  /** Links to the parts of the contract that the sources name. */
  badges(sources: readonly Source[]): string;
  heading(page: Page, heading: PlacedHeading): string;
  /** A picture: a file of the repository, or one that the build creates. */
  picture(alternative: string, file: string): string;
  /** Whether drawings are inside the text or separate files. */
  readonly drawings: "inline" | "files";
  /** Whether to keep the rest of the line after the language of a code block, which names its file and marks output. */
  readonly keepsMarks?: true;
};

/** The site: a file for each page, and the reference, whose parts have routes after `#`. */
export function createSiteRendering(site: Site): Rendering {
  const base = createPageRendering(
    site,
    (page, heading) => `${page.slug}.html${heading ? `#${heading.id}` : ""}`,
  );
  return {
    ...base,
    // Pictures of pages are too large to be in the text; plots are small, and follow the reader's colour scheme there.
    picture: (alternative, file) =>
      file.startsWith("docs/console/")
        ? `<img src="${pictureName(file)}" alt="${alternative}" loading="lazy">`
        : base.picture(alternative, file),
    operation: ({ tags, operationId }) => `reference.html#/${tags[0]}/${operationId}`.toLowerCase(),
    file: (name) => name.replace(/^reference\.md$/, "reference.html"),
    heading: (_, { level, text }) => `${"#".repeat(level)} ${text}`,
    keepsMarks: true,
  };
}

/** Everything in one page, for a review: addresses are routes after `#`. */
export function createPageRendering(
  site: Site,
  address = (page: Page, heading?: PlacedHeading) => `#/${heading?.route ?? page.slug}`,
): Rendering {
  return {
    page: address,
    operation: ({ tags, operationId }) => `#/${tags[0]}/${operationId}`.toLowerCase(),
    file: (name) => name,
    badges(sources) {
      const links = sources.map((source) => {
        const { page, heading, label } = findSource(site, source);
        const title = heading.text.replaceAll(/[`"&<>]/g, "");
        return `<a class="source ${source.kind}" href="${address(page, heading)}" title="${title}">${label}</a>`;
      });
      return `<span class="sources">${links.join(" ")}</span>`;
    },
    heading({ chapters }, { level, text, id }) {
      // In its menu, Redoc nests below first-level headings only.
      const marks = "#".repeat(chapters && level === 2 ? 1 : level);
      return `${marks} ${text} {% id="${id}" %}`;
    },
    picture(alternative, file) {
      const source = readFileSync(join(ROOT, file)).toString("base64");
      return `<img src="data:image/svg+xml;base64,${source}" alt="${alternative}">`;
    },
    drawings: "inline",
  };
}

/** Markdown files beside each other. */
export function createFileRendering(site: Site): Rendering {
  const address = (page: Page, heading?: PlacedHeading) =>
    `${page.slug}.md${heading ? `#${heading.anchor}` : ""}`;
  return {
    page: address,
    operation: ({ summary }) => `reference.md#${toAnchor(summary)}`,
    file: (name) => name,
    badges(sources) {
      const links = sources.map((source) => {
        const { page, heading, label } = findSource(site, source);
        return `[${label}](${address(page, heading)})`;
      });
      return `(${links.join(", ")})`;
    },
    heading: (_, { level, text }: Heading) => `${"#".repeat(level)} ${text}`,
    picture: (alternative, file) => `![${alternative}](${pictureName(file)})`,
    drawings: "files",
  };
}

/** The file name of a picture of the plain text. */
export function pictureName(file: string): string {
  return file.replace(/^docs\//, "").replaceAll("/", "-");
}

function findSource({ pages }: Site, source: Source) {
  const [slug, id] =
    source.kind === "specified" ? ["interface", source.clause] : ["decisions", source.decision];
  const page = pages.find((candidate) => candidate.slug === slug);
  const heading = page?.headings.find((candidate) => candidate.id === id.toLowerCase());
  if (!page || !heading) throw new Error(`There is no heading ${id} for a badge to link to.`);
  return { page, heading, label: `${source.kind} ${id}` };
}

/** Renders the text of a page whose generated parts are filled in. */
export function renderBody(site: Site, page: Page, body: string, rendering: Rendering): string {
  let next = 0;
  const placed = mapHeadings(body, (heading) => {
    const own = page.headings[next++];
    if (own?.text !== heading.text) throw new Error(`${page.file} has its headings in another order.`);
    return rendering.heading(page, own);
  });
  return renderLinks(site, page.file, rendering.keepsMarks ? placed : toPublished(placed), rendering);
}

/**
 * Turns the links between files of the repository into links within the site; files that are not on the site are only named.
 */
export function renderLinks(site: Site, file: string, markdown: string, rendering: Rendering): string {
  return mapLinks(markdown, ({ text, address, isPicture }) => {
    if (isPicture) return rendering.picture(text, posix.join(posix.dirname(file), address));
    const target = findTarget(site.pages, file, address);
    switch (target.kind) {
      case "outside":
        return `[${text}](${address})`;
      case "unpublished":
        return text;
      case "built":
        return `[${text}](${rendering.file(target.name)})`;
      case "operation":
        return `[${text}](${rendering.operation(site.findOperation(target.id))})`;
      case "page":
        return `[${text}](${rendering.page(target.page, target.heading)})`;
    }
  });
}
