import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { dereference, isNode, members, type Node, walk } from "../../../openapi/document/node.ts";
import { operationsOf } from "../../../openapi/document/operations.ts";
import { ROOT } from "../../command/root.ts";
import { fillPage } from "../fill.ts";
import { type Parts, partsOf, toWords } from "../markdown.ts";
import type { DocumentedOperation, Page } from "../pages.ts";
import type { Rendering, Site } from "../rendering.ts";
import type { Entry } from "./search.ts";

/** Readers' words, by the page or heading that they lead to. */
const WORDS_FILE = "docs/search-words.yaml";

/** Guides rank before records such as the decisions. */
const WEIGHTS: Readonly<Record<string, number>> = {
  interface: 0.45,
  decisions: 0.55,
  performance: 0.5,
  security: 0.6,
  extensions: 0.4,
  changelog: 0.6,
};

/** Lists of tests and of measurements, whose words nobody searches for; they are found by their headings. */
const WITHOUT_TEXT = ["performance"];

/** All entries of the search. Throws when the list of words names a page or heading that does not exist. */
export function listEntries(site: Site, rendering: Rendering): Entry[] {
  const words = new Map(
    Object.entries(parse(readFileSync(join(ROOT, WORDS_FILE), "utf8")) as Record<string, string>),
  );
  const take = (url: string): string => {
    const found = words.get(url) ?? "";
    words.delete(url);
    return found;
  };
  const entries = [
    ...site.pages.flatMap((page) => entriesOfPage(page, fillPage(site, page, rendering), take)),
    ...[site.published, site.sandbox].flatMap(({ document }, index) =>
      entriesOfContract(document, rendering, take, index === 0 ? 0.85 : 0.6),
    ),
  ];
  if (words.size > 0)
    throw new Error(`${WORDS_FILE} names ${[...words.keys()].join(", ")}, which does not exist.`);
  return entries;
}

function entriesOfPage(page: Page, parts: Parts, take: (url: string) => string): Entry[] {
  const { slug, headings, name = page.title } = page;
  const entryOf = (url: string, heading: string, own: Parts, words: string): Entry => ({
    page: name,
    heading,
    url,
    text: WITHOUT_TEXT.includes(slug) ? "" : toWords(own),
    words: [take(url), words].join(" ").trim(),
    weight: WEIGHTS[slug] ?? 1,
  });
  const starts = [...parts.keys()].filter((index) => parts[index]?.type === "heading");
  const sections = headings.map(({ id, text }, index) => {
    const own = parts.slice((starts[index] ?? 0) + 1, starts[index + 1]);
    return entryOf(`${slug}.html#${id}`, text, own, "");
  });
  return [entryOf(`${slug}.html`, "", parts.slice(0, starts[0]), page.title), ...sections];
}

function entriesOfContract(
  document: Node,
  rendering: Rendering,
  take: (url: string) => string,
  weight: number,
): Entry[] {
  return operationsOf(document).map(({ kind, path, method, pointer, operation }) => {
    const { operationId, summary, tags, description } = operation as DocumentedOperation & {
      readonly description?: string;
    };
    const url = rendering.operation({ operationId, summary, tags });
    const address = kind === "paths" ? `${method.toUpperCase()} ${path}` : path;
    const text = `${address}. ${toWords(partsOf(description ?? ""))}`;
    const words = [take(url), ...fieldsOf(document, pointer)].join(" ");
    return { page: summary, heading: address, url, text, words, weight };
  });
}

/** The names of all fields in an operation's request. */
function fieldsOf(document: Node, pointer: string): string[] {
  const body = dereference(document, `${pointer}/requestBody/content`);
  const parts = Array.from(walk(body, ["example", "examples"]), ({ part }) => part);
  const names = parts.flatMap((part) => (isNode(part) ? members(part.properties).map(([name]) => name) : []));
  return [...new Set(names)];
}
