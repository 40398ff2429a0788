import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contract } from "../../openapi/document/contract.ts";
import { type Heading, headingsIn, parseMarkdown } from "../../openapi/document/headings.ts";
import { operationsOf } from "../../openapi/document/operations.ts";
import { ROOT } from "../command/root.ts";
import { isComment, type Parts } from "./markdown.ts";
import { GROUPS, type PageSource, SITE_FILE } from "./site.ts";

/** A page as it was written: links name files of the repository. */
export type Page = PageSource & {
  readonly title: string;
  readonly parts: Parts;
  readonly headings: readonly PageHeading[];
};

export type PageHeading = Heading & {
  /** The address of the heading on its page. */
  readonly id: string;
};

/** Reads every page of the site. */
export async function readPages(): Promise<Page[]> {
  const sources = await listSources();
  return Promise.all(
    sources.map(async (source) => {
      const { title = source.title, parts } = readText(await readFile(join(ROOT, source.file), "utf8"));
      if (title === undefined) throw new Error(`${source.file} has no title.`);
      return { ...source, title: source.title ?? title, parts, headings: locateHeadings(source, parts) };
    }),
  );
}

/** The title of a text, which is its first-level heading at the top, and the rest. */
export function readText(markdown: string): { title?: string; parts: Parts } {
  const tree = parseMarkdown(markdown);
  const first = tree.children.findIndex((part) => !isComment(part));
  const [top] = headingsIn(tree);
  if (top?.node !== tree.children[first] || top?.heading.level !== 1)
    return { parts: tree.children.slice(first) };
  return { title: top.heading.text, parts: tree.children.slice(first + 1) };
}

/** The addresses of the headings, which their nodes get too. */
function locateHeadings({ file }: PageSource, parts: Parts): PageHeading[] {
  const located = headingsIn({ children: [...parts] }).map(({ heading, node }) => {
    const id = toId(heading);
    node.data = { hProperties: { id } };
    return { ...heading, id };
  });
  const ids = located.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice !== undefined) throw new Error(`${file} has two headings at ${twice}.`);
  return located;
}

/** The short address of a numbered heading: `2.7`, `d07`, and `2` for a chapter. */
function toId({ text, anchor }: Heading): string {
  const [, number] = /^(\d+(?:\.\d+)?|D\d{2}[a-z]?) /.exec(text) ?? [];
  return number?.toLowerCase() ?? anchor;
}

/** All sources, in the order of the menu. Throws for a guide that no list names, because nobody would find it. */
export async function listSources(): Promise<PageSource[]> {
  const sources = GROUPS.flatMap(({ pages }) => pages);
  const guides = (await readdir(join(ROOT, "docs/guides"))).filter((name) => name.endsWith(".md"));
  const unlisted = guides.filter((name) => !sources.some(({ file }) => file === `docs/guides/${name}`));
  if (unlisted.length > 0) throw new Error(`${SITE_FILE} does not list ${unlisted.join(", ")}.`);
  return sources;
}

/** An operation of a contract, a webhook included. */
export type DocumentedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
};

/** Returns the operation with an `operationId`, from the published contract or the sandbox's. Throws when neither has it. */
export type FindOperation = (operationId: string) => DocumentedOperation;

export function createFindOperation(listed: readonly DocumentedOperation[]): FindOperation {
  const operations = new Map(listed.map((one) => [one.operationId, one]));
  return (operationId) => {
    const operation = operations.get(operationId);
    if (!operation) throw new Error(`There is no operation ${operationId}.`);
    return operation;
  };
}

/** Where the reference shows an operation, after `#/`. */
export function routeOf({ tags, operationId }: DocumentedOperation): string {
  return `${tags[0]}/${operationId}`.toLowerCase();
}

/** The operations of contracts, webhooks included. */
export function documentedOperations(...contracts: readonly Contract[]): DocumentedOperation[] {
  return contracts
    .flatMap(({ document }) => operationsOf(document))
    .map(({ operation }) => operation as DocumentedOperation);
}

/** The operation that a link to a file of the contract names after its `#`. */
export function operationInFile(file: string, name: string | undefined): string {
  const text = readFileSync(join(ROOT, file), "utf8");
  const ids = [...text.matchAll(/operationId: (\w+)/g)].map(([, id = ""]) => id);
  if (name === undefined || !ids.includes(name))
    throw new Error(`A link to ${file} has to end in # and one of ${ids.join(", ")}; ${name} is none.`);
  return name;
}
