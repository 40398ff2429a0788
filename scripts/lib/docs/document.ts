import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ROOT } from "../redocly.ts";
import { addBadges } from "./badges.ts";
import { callsOf } from "./calls.ts";
import { fillBody } from "./fill.ts";
import { createPageRendering, type Rendering, renderBody, renderLinks, type Site } from "./rendering.ts";
import { samplesOf } from "./samples.ts";
import { GROUPS } from "./site.ts";

type Json = { [name: string]: unknown };
type Tag = { readonly name: string; readonly "x-displayName"?: string; readonly description?: string };
type Parts = { info: Json; tags: Tag[]; paths: Json; components: Record<string, Json>; webhooks: Json };

/** A page that comes before all others, about the change that the site is built from. Its links are routes. */
export type ReviewPage = { readonly slug: string; readonly title: string; readonly body: string };

/**
 * The document that the page is rendered from: both contracts, with their sources as badges, code samples, and the pages as
 * tags. The contracts themselves stay as they are published.
 */
export function deriveDocument(site: Site, review?: ReviewPage): Json {
  const rendering = createPageRendering(site);
  const document = mergeContracts(site);
  addBadges(document, rendering.badges);
  addSamples(document, site);
  document.info.description = introduce(site, String(document.info.description), rendering);
  const tags = new Map(document.tags.map((tag) => [tag.name, tag]));
  const groups = GROUPS.map(({ title, tags: own, pages }) => {
    const shown = site.pages.filter(({ slug }) => pages.some((page) => page.slug === slug));
    for (const page of shown) {
      const body = renderBody(site, page, fillBody(site, page, rendering), rendering);
      tags.set(page.slug, toTag({ ...page, body }));
    }
    return { name: title, tags: [...own, ...shown.map(({ slug }) => slug)] };
  });
  if (review) {
    tags.set(review.slug, toTag(review));
    groups.unshift({ name: "Review", tags: [review.slug] });
    document.info.description = `**[${review.title}](#/${review.slug})**\n\n${document.info.description}`;
  }
  return { ...document, tags: [...tags.values()], "x-tagGroups": groups };
}

function toTag({ slug, title, body }: ReviewPage): Tag {
  return { name: slug, "x-displayName": title, description: body };
}

/** One document of both. What the sandbox declares otherwise under the same name gets another one. */
function mergeContracts({ published, sandbox }: Site): Parts & Json {
  const document = structuredClone(published.document) as Parts & Json;
  const other = renameConflicts(document.components, sandbox.document as Parts & Json);
  for (const [kind, parts] of Object.entries(other.components)) {
    document.components[kind] = { ...parts, ...document.components[kind] };
  }
  document.paths = { ...document.paths, ...other.paths };
  document.tags = [...document.tags, ...other.tags];
  return document;
}

function renameConflicts(components: Parts["components"], document: Parts): Parts {
  let text = JSON.stringify(document);
  for (const [kind, parts] of Object.entries(document.components)) {
    for (const [name, part] of Object.entries(parts)) {
      const own = components[kind]?.[name];
      // The one security scheme differs in its description alone.
      if (own === undefined || kind === "securitySchemes" || isDeepStrictEqual(own, part)) continue;
      text = text.replaceAll(`"#/components/${kind}/${name}"`, `"#/components/${kind}/Sandbox${name}"`);
      text = text.replace(`"${name}":${JSON.stringify(part)}`, `"Sandbox${name}":${JSON.stringify(part)}`);
    }
  }
  return JSON.parse(text);
}

function addSamples(document: Parts, { published, sandbox }: Site): void {
  for (const call of [published, sandbox].flatMap(({ document: contract }) => callsOf(contract))) {
    const item = document.paths[call.path] as Record<string, Json>;
    const operation = item[call.method.toLowerCase()];
    if (operation) operation["x-codeSamples"] = samplesOf(call);
  }
}

/** The first page: what the contract says of itself, the way to everything else, and then its conventions. */
function introduce(site: Site, description: string, rendering: Rendering): string {
  const [first = "", ...conventions] = description.split(/^(?=# )/m);
  const home = renderLinks(site, "docs/home.md", readFileSync(join(ROOT, "docs/home.md"), "utf8"), rendering);
  return [first.trim(), home.trim(), ...conventions].join("\n\n");
}
