import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "../command/redocly.ts";
import { renderData } from "./data.ts";
import { fillBody } from "./fill.ts";
import { picturesIn } from "./markdown.ts";
import { renderReference } from "./reference/reference.ts";
import { createFileRendering, pictureName, renderBody, type Site } from "./rendering.ts";
import { GROUPS } from "./site.ts";
import { drawStatesFile } from "./states.ts";

/** The site as plain text: a file for each page, the reference, all in one, and the list of them (llms.txt). */
export function renderTexts(site: Site): Map<string, string> {
  const rendering = createFileRendering(site);
  const pages = site.pages.map((page) => {
    const body = renderBody(site, page, fillBody(site, page, rendering), rendering);
    return [`${page.slug}.md`, `# ${page.title}\n\n${body}\n`] as const;
  });
  const reference = renderReference(site, rendering);
  const texts = new Map([...pages, ["reference.md", reference] as const]);
  const all = [reference, ...pages.map(([, text]) => text)].join("\n\n---\n\n");
  return new Map([
    ...texts,
    ["llms.txt", listPages(site)],
    ["llms-full.txt", all],
    ...picturesOf(site),
    ["states.svg", drawStatesFile(site)],
    ...renderData(site),
  ]);
}

/** The pictures of the pages that are files of the repository. */
function picturesOf({ pages }: Site): [string, string][] {
  return pages.flatMap(({ file, body }) =>
    picturesIn(body).map((address): [string, string] => {
      const path = posix.join(posix.dirname(file), address);
      return [pictureName(path), readFileSync(join(ROOT, path), "utf8")];
    }),
  );
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
