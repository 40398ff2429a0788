import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Root } from "mdast";
import { visit } from "unist-util-visit";
import { ROOT } from "../command/root.ts";
import { renderData } from "./data.ts";
import { readDownloads } from "./downloads.ts";
import { renderPage } from "./fill.ts";
import { toMarkdown } from "./markdown.ts";
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
  const reference = renderReference(site);
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
      pictures.push([pictureName(path), readFileSync(join(ROOT, path), "utf8")]);
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
  return `# ${title}\n\n> ${summary}\n\n${INSTRUCTIONS}\n${groups.join("\n")}`;
}

/** What a program that writes or runs refunds must know before it reads any page. */
const INSTRUCTIONS = `## Instructions for agents

- A refund moves money and can't be taken back: no operation cancels one. Issue none in production that a person has not asked for.
- Never repeat a refund with a new \`requestKey\`: that is a second refund. Store the key before the first call, and use one for each intent.
- After a 5xx, a timeout or a lost connection you don't know whether the refund exists. Repeat the same call with the same \`requestKey\`:
  201 issues it, and 409 shows in \`existing\` the record that has the key.
- After 429 and 503, wait as long as \`Retry-After\` says. Repeat a 408 at once and a 401 with a new token, and no other 4xx: the call
  would fail again.
- 201 is not success: read \`paymentStatus\`. \`TERMINAL_FAILED\` is final, \`PENDING\` can fail later, and so can \`AUTHORIZED\`.
- Amounts are dollars with at most two decimals. Add them in cents or in a decimal type.
- Verify each delivery's signature over its raw body before you parse it, drop repeats by \`webhook-id\`, and sort by \`sequence\`.
- Ignore fields, events, statuses and codes that you don't know: \`versioning.md\` says which may come.
- Each \`errorCode\` is explained in \`problems.json\` and in \`reference.md\`: what it means, and what to do.
- Try things out in the sandbox only: \`npx @refund-contract/sandbox\`, or its tools by \`npx @refund-contract/sandbox mcp\`.
- Every page here is Markdown, too: ask for it with \`Accept: text/markdown\`, or with \`.md\` at the end of its address.
`;

const REFERENCE = [
  "- [Reference](reference.md): every operation, field, response and event in the words of OpenAPI, those of the sandbox included",
];
