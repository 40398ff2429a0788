import type { Place } from "./changes.ts";
import type { Page } from "./pages.ts";
import { fillProblems } from "./problems.ts";
import { fillChangelog } from "./releases.ts";
import type { Rendering, Site } from "./rendering.ts";
import { renderStates, statusSchemaOf } from "./states.ts";

/** The text of a page with what is made from the contract. */
export function fillBody(site: Site, page: Page, rendering: Rendering): string {
  if (page.slug === "problems") return fillProblems(page.body, site, rendering);
  if (page.slug === "states") return fillStates(page.body, site, rendering);
  if (page.slug === "changelog") {
    const link = ({ operationId }: Place) => `operation:${operationId}`;
    return fillChangelog(page.body, site.releases, link);
  }
  return page.body;
}

const GAP = "<!-- states -->";

function fillStates(body: string, { published }: Site, rendering: Rendering): string {
  if (!body.includes(GAP)) throw new Error("docs/states.md has no place for the drawing.");
  return body.replace(GAP, () => renderStates(statusSchemaOf(published.document), rendering));
}
