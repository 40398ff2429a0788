import { posix } from "node:path";
import type { Root } from "mdast";
import { visit } from "unist-util-visit";
import { renderData } from "./data.ts";
import { readDownloads } from "./downloads.ts";
import { renderPage } from "./fill.ts";
import { toMarkdown } from "./markdown.ts";
import { readPicture } from "./plots.ts";
import { renderReference } from "./reference/reference.ts";
import { createFileRendering, pictureName, type Site } from "./rendering.ts";
import { GROUPS } from "./site.ts";

/** The site as plain text: a file for each page, the reference, all in one, and the list of them (llms.txt). */
export function renderTexts(site: Site): Map<string, string> {
  const rendering = createFileRendering(site);
  const pages = site.pages.map((page) => {
    const text = toMarkdown(renderPage(site, page, rendering));
    return [`${page.slug}.md`, `# ${page.title}\n\n${text}`] as const;
  });
  const reference = renderReference(site, rendering);
  const texts = new Map([...pages, ["reference.md", reference] as const]);
  const all = [reference, ...pages.map(([, text]) => text)].join("\n\n---\n\n");
  return new Map([
    ...texts,
    ...readDownloads(),
    ["llms.txt", listPages(site)],
    ["llms-full.txt", all],
    ...picturesOf(site),
    ...renderData(site),
  ]);
}

/** The pictures of the pages, which are files of the repository. */
function picturesOf({ pages }: Site): [string, string][] {
  const pictures: [string, string][] = [];
  for (const { file, parts } of pages) {
    visit({ type: "root", children: [...parts] } satisfies Root, "image", ({ url }) => {
      const path = posix.join(posix.dirname(file), url);
      pictures.push([pictureName(path), readPicture(path)]);
    });
  }
  return pictures;
}

/** The list in the form of llmstxt.org. */
function listPages({ published, pages }: Site): string {
  const { title, summary } = published.document.info as { title: string; summary: string };
  const groups = GROUPS.map((group) => {
    const lines = pages
      .filter(({ slug }) => group.pages.some((page) => page.slug === slug))
      .map(({ slug, title: name, about }) => `- [${name}](${slug}.md): ${about}`);
    return `## ${group.title}\n\n${[...(group.title === "Reference" ? REFERENCE : []), ...lines].join("\n")}\n`;
  });
  return `# ${title}\n\n> ${summary}\n\n${groups.join("\n")}`;
}

const REFERENCE = [
  "- [Reference](reference.md): every operation, field, response and event, those of the sandbox included",
];
