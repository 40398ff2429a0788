import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import type { Root, RootContent } from "mdast";
import { SKIP, visit } from "unist-util-visit";
import { type Contract, readContract, type Source } from "../../openapi/document/contract.ts";
import { toAnchor } from "../../openapi/document/headings.ts";
import { ROOT } from "../command/root.ts";
import { type Releases, readReleases } from "./changes.ts";
import type { ReferenceMenu } from "./layout.ts";
import { isComment, type Parts } from "./markdown.ts";
import {
  createFindOperation,
  type DocumentedOperation,
  documentedOperations,
  type FindOperation,
  operationInFile,
  type Page,
  type PageHeading,
  readPages,
  routeOf,
} from "./pages.ts";
import { readDrawing, STATES_DRAWING } from "./states.ts";

/** Everything that the site is made from. */
export type Site = {
  readonly published: Contract;
  readonly sandbox: Contract;
  readonly pages: readonly Page[];
  readonly findOperation: FindOperation;
  readonly menu: ReferenceMenu;
  readonly releases: Releases;
};

export async function readSite(): Promise<Site> {
  const [published, sandbox] = [readContract("openapi"), readContract("sandbox")];
  const operations = documentedOperations(published, sandbox);
  const findOperation = createFindOperation(operations);
  const menu: ReferenceMenu = Map.groupBy(
    operations.map((operation) => ({ ...operation, route: routeOf(operation) })),
    ({ tags }) => tags[0] ?? "",
  );
  const [released, current] = ["openapi/released", "openapi/generated/openapi.yaml"].map((path) =>
    join(ROOT, path),
  ) as [string, string];
  const [pages, releases] = await Promise.all([readPages(), readReleases(released, current)]);
  return { published, sandbox, pages, findOperation, menu, releases };
}

/** How one form of the site writes addresses. */
export type Rendering = {
  /** The address of a page, or of a heading in it. */
  page(page: Page, heading?: PageHeading): string;
  operation(operation: DocumentedOperation): string;
  /** The address of another file of the site. */
  file(name: string): string;
  /** Links to the parts of the contract that the sources name. */
  badges(sources: readonly Source[]): string;
  /** A picture, which is a file of the repository. */
  picture(alternative: string, file: string): string;
};

/** The site: a file for each page, and the reference, whose parts have routes after `#`. */
export function createSiteRendering(site: Site): Rendering {
  const address: Rendering["page"] = (page, heading) => `${page.slug}.html${heading ? `#${heading.id}` : ""}`;
  return {
    page: address,
    operation: (operation) => `reference.html#/${routeOf(operation)}`,
    file: (name) => name.replace(/^reference\.md$/, "reference.html"),
    badges(sources) {
      const links = sources.map((source) => {
        const { page, heading, label } = findSource(site, source);
        const title = heading.text.replaceAll(/[`"&<>]/g, "");
        return `<a class="source ${source.kind}" href="${address(page, heading)}" title="${title}">${label}</a>`;
      });
      return `<span class="sources">${links.join(" ")}</span>`;
    },
    // Pictures are too large to be in the text, and lead to their full size.
    picture(alternative, file) {
      if (file === STATES_DRAWING) return readDrawing(site.published.document);
      const name = pictureName(file);
      return `<a class="picture" href="${name}"><img src="${name}" alt="${alternative}" loading="lazy"></a>`;
    },
  };
}

/** Markdown files beside each other. */
export function createFileRendering(site: Site): Rendering {
  const address = (page: Page, heading?: PageHeading) =>
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
    picture: (alternative, file) => `![${alternative}](${pictureName(file)})`,
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

/**
 * Turns the links between files of the repository into links within the site, and leaves out comments, which are for the
 * tools of the repository. Files that are not on the site are only named.
 */
export function renderLinks(site: Site, file: string, parts: Parts, rendering: Rendering): RootContent[] {
  const tree: Root = { type: "root", children: structuredClone(parts.filter((part) => !isComment(part))) };
  visit(tree, (node, index, parent) => {
    if (!parent || index === undefined) return undefined;
    if (node.type === "image") {
      const value = rendering.picture(node.alt ?? "", posix.join(posix.dirname(file), node.url));
      parent.children[index] = { type: "html", value };
    }
    if (node.type !== "link") return undefined;
    const url = resolveLink(site, file, node.url, rendering);
    if (url !== undefined) node.url = url;
    else parent.children.splice(index, 1, ...node.children);
    return [SKIP, index + 1];
  });
  return tree.children.map(unwrapDrawing);
}

/** A drawing inside a page is a block of its own, without a paragraph's margins. */
function unwrapDrawing(part: RootContent): RootContent {
  const [only] = part.type === "paragraph" ? part.children : [];
  return only?.type === "html" && only.value.startsWith("<svg") ? only : part;
}

/** What the reference is made of. */
const CONTRACT = "openapi/openapi.yaml";

/**
 * The address of a link's target in a form of the site; undefined for a file that is not on the site. Throws for a file or a
 * heading that does not exist.
 */
function resolveLink(site: Site, from: string, address: string, rendering: Rendering): string | undefined {
  if (/^https?:/.test(address)) return address;
  const operation = (id: string) => rendering.operation(site.findOperation(id));
  if (address.startsWith("operation:")) return operation(address.slice("operation:".length));
  const [path = "", anchor] = address.split("#");
  const file = path === "" ? from : posix.join(posix.dirname(from), path);
  if (/^openapi\/(sandbox\/)?(paths|webhooks)\.yaml$/.test(file))
    return operation(operationInFile(file, anchor));
  if (file === CONTRACT) return rendering.file("reference.md");
  const page = site.pages.find((candidate) => candidate.file === file);
  if (!page) {
    if (existsSync(join(ROOT, file))) return undefined;
    throw new Error(`${from} links to ${address}, which does not exist.`);
  }
  const heading = page.headings.find((candidate) => candidate.anchor === anchor);
  if (anchor !== undefined && !heading) throw new Error(`${from} links to ${address}, which is no heading.`);
  return rendering.page(page, heading);
}
