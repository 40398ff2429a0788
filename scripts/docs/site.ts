import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT } from "../command/root.ts";

/** A page that is written or generated as Markdown. */
export type PageSource = {
  /** Its name in addresses, and the name of its Markdown file. */
  readonly slug: string;
  /** Its source file. Links in other pages name this file. */
  readonly file: string;
  /** For a file without a title. */
  readonly title?: string;
  /** A short name for menus, window titles and the search; the title by default. */
  readonly name?: string;
  /** Whether its second-level headings are chapters that contain the third-level ones in the menu. */
  readonly chapters?: true;
  /** Its purpose in one line, for the list that programs read. */
  readonly about: string;
};

/** A part of the menu: pages, and tags of the contracts whose operations are shown. */
export type Group = {
  readonly title: string;
  readonly tags: readonly string[];
  readonly pages: readonly PageSource[];
};

/** The list of pages; a guide that it lacks fails the build, because nobody would find it. */
export const SITE_FILE = "docs/site.yaml";

type WrittenPage = Omit<PageSource, "file"> & { readonly file?: string };
type WrittenGroup = { readonly title: string; readonly tags?: string[]; readonly pages: WrittenPage[] };

/** The whole site, by audience, in the order of its menu. */
export const GROUPS: readonly Group[] = (
  parse(readFileSync(join(ROOT, SITE_FILE), "utf8")) as WrittenGroup[]
).map(({ title, tags = [], pages }) => ({
  title,
  tags,
  pages: pages.map((page) => ({ file: `docs/guides/${page.slug}.md`, ...page })),
}));
