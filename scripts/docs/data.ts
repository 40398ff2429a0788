import { readDecisions } from "./decisions.ts";
import { factsAbout } from "./fill.ts";
import { type Parts, paragraphOf, splitSections, toMarkdown } from "./markdown.ts";
import type { Site } from "./rendering.ts";

/** Problems and decisions as JSON, for programs. */
export function renderData(site: Site): Map<string, string> {
  return new Map([
    ["problems.json", toJson(listProblems(site))],
    ["decisions.json", toJson(readDecisions(partsOfPage(site, "decisions")))],
  ]);
}

function listProblems(site: Site) {
  return splitSections(partsOfPage(site, "problems"), 2).sections.flatMap(({ title: kind, parts: chapter }) =>
    splitSections(chapter, 3).sections.map(({ title: errorCode, parts }) => {
      const [cause, remedy] = ["Cause", "Remedy"].map((name) => paragraphOf(toMarkdown(parts), name));
      if (!cause || !remedy)
        throw new Error(`${errorCode} in docs/problems.md lacks **Cause:** or **Remedy:**.`);
      return { errorCode, kind, ...factsAbout(errorCode, site), cause, remedy };
    }),
  );
}

function partsOfPage({ pages }: Site, slug: string): Parts {
  const page = pages.find((one) => one.slug === slug);
  if (!page) throw new Error(`There is no page ${slug}.`);
  return page.parts;
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
