import { isDeepStrictEqual } from "node:util";
import type { Source } from "../../../openapi/document/contract.ts";
import { isNode, walk } from "../../../openapi/document/node.ts";
import { renderDownloads } from "../downloads.ts";
import { STATUSES, statusClasses } from "../html.ts";
import { createSiteRendering, type Rendering, type Site } from "../rendering.ts";
import { GROUPS, SITE_FILE } from "../site.ts";
import { callsOf } from "./calls.ts";
import { addStatuses, DATA, type Draft, hideNoise, quoteExamplesOnce } from "./corrections.ts";
import { samplesOf } from "./samples.ts";

type Tag = { readonly name: string; readonly "x-displayName"?: string; readonly description?: string };
type Parts = { info: Draft; tags: Tag[]; paths: Draft; components: Record<string, Draft>; webhooks: Draft };

/**
 * The document that the reference is rendered from: both contracts, with their sources as badges and code samples. The
 * contracts themselves stay as they are published.
 */
export function deriveReference(site: Site): Draft {
  const rendering = createSiteRendering(site);
  const document = mergeContracts(site);
  hideNoise(document);
  quoteExamplesOnce(document);
  addStatuses(document, [site.published, site.sandbox], createCodeLink(site, rendering));
  addBadges(document, rendering.badges);
  addSamples(document, site);
  colourStatuses(document);
  const groups = GROUPS.filter(({ tags }) => tags.length > 0).map(({ title, tags }) => ({
    name: title,
    tags,
  }));
  const unlisted = document.tags.filter(({ name }) => !groups.some(({ tags }) => tags.includes(name)));
  if (unlisted.length > 0)
    throw new Error(`${SITE_FILE} does not list the tags ${unlisted.map(({ name }) => name).join(", ")}.`);
  document.info.description = `${renderDownloads()}\n\n${document.info.description}`;
  return { ...document, "x-tagGroups": groups };
}

function createCodeLink({ pages }: Site, rendering: Rendering): (code: string) => string {
  const page = pages.find(({ slug }) => slug === "problems");
  return (code) => {
    const heading = page?.headings.find(({ text }) => text === code);
    return page && heading ? `[${code}](${rendering.page(page, heading)})` : code;
  };
}

/** Shows the statuses of a refund in the colours that they have on the other pages. */
function colourStatuses(document: Draft): void {
  const names = new RegExp(`\`(${STATUSES.join("|")})\``, "g");
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part) || typeof part.description !== "string") continue;
    (part as Draft).description = part.description.replaceAll(
      names,
      (_, name: string) => `<code class="${statusClasses(name).join(" ")}">${name}</code>`,
    );
  }
}

/** One document of both. When the sandbox declares something different under the same name, that gets another name. */
function mergeContracts({ published, sandbox }: Site): Parts & Draft {
  const document = structuredClone(published.document) as Parts & Draft;
  const other = renameConflicts(document.components, sandbox.document as Parts & Draft);
  for (const [kind, parts] of Object.entries(other.components)) {
    document.components[kind] = { ...parts, ...document.components[kind] };
  }
  document.paths = { ...document.paths, ...other.paths };
  document.tags = [...document.tags, ...other.tags];
  // The security scheme has the name that callers write in `Authorization`.
  const text = JSON.stringify(document).replaceAll(/"accessToken":(?=\[|\{"type":"http")/g, '"Bearer":');
  return JSON.parse(text);
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
    const item = document.paths[call.path] as Record<string, Draft>;
    const operation = item[call.method.toLowerCase()];
    if (operation) operation["x-codeSamples"] = samplesOf(call);
  }
}

/**
 * Adds badges to the description of every element that has sources, and to each listed value that has its own. Changes the
 * given document.
 */
function addBadges(document: Draft, badges: Rendering["badges"]): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part)) continue;
    const element: Draft = part;
    const values = element["x-enum-source"] as Record<string, Source[]> | undefined;
    if (values) addToValues(element, values, badges);
    const sources = element["x-source"];
    if (Array.isArray(sources)) {
      element.description = `${element.description ?? ""}\n\n${badges(sources)}`.trimStart();
    }
  }
}

/**
 * When a description explains its values in a table, the badges are added there; otherwise the values get a table of their
 * own.
 */
function addToValues(
  schema: Draft,
  values: Readonly<Record<string, Source[]>>,
  badges: Rendering["badges"],
): void {
  let description = String(schema.description ?? "");
  const apart: [string, string][] = [];
  for (const [value, sources] of Object.entries(values)) {
    const row = new RegExp(`^(\\| \`${value.replaceAll(".", "\\.")}\` .*?) *\\|$`, "m");
    const shown = badges(sources);
    if (row.test(description)) description = description.replace(row, `$1 ${shown} |`);
    else apart.push([value, shown]);
  }
  if (description !== "") schema.description = description;
  if (apart.length > 0) schema["x-enumDescriptions"] = Object.fromEntries(apart);
}
