/** Renders the API reference from the contract with Redoc. */
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { follow, isNode, walk } from "../../openapi/document/document-node.ts";
import { readContract, type Source } from "../../openapi/document/read-contract.ts";
import { withTempDir } from "../shared/files.ts";
import { runRedocly } from "../shared/redocly.ts";
import { ROOT } from "../shared/root.ts";
import { fillsOf, findHeading, idOf, type ReferenceName } from "./addresses.ts";

/** A part of the document that the reference is rendered from, which is changed in place. */
type Draft = { [name: string]: unknown };

/** Members of the contract that do not contain elements. */
const DATA = ["example", "examples", "default", "const", "x-source", "x-enum-source"];

/** Matches every text without U+0000. It only excludes broken text, and would be noise at every field. */
const TEXT_PATTERN = "^[^\\x00]*$";

/** Where links in the texts of a document lead: to the site of a sandbox. */
const SITE = "http://127.0.0.1:3000/docs/";

const OPTIONS = {
  disableTelemetry: true,
  maxDisplayedEnumValues: 20,
  schemasExpansionLevel: 3,
  jsonSamplesExpandLevel: 9,
};

/** Renders a document as one HTML page that loads nothing from other hosts, so that none of them learns who reads it. */
export async function renderReference(name: ReferenceName): Promise<string> {
  const document = structuredClone(readContract(name).document) as Draft;
  hideNoise(document);
  const { info, externalDocs } = document as { info: Draft; externalDocs?: Draft };
  // These links work wherever the site is.
  info.description = String(info.description).replaceAll(SITE, "");
  if (externalDocs) externalDocs.url = String(externalDocs.url).replace(SITE, "");
  addBadges(document);
  tellChoices(document);
  const html = await withTempDir(async (folder) => {
    const [source, template, output] = ["document.json", "template.hbs", "index.html"].map((file) =>
      join(folder, file),
    ) as [string, string, string];
    await writeFile(source, JSON.stringify(document));
    await writeFile(template, readTemplate());
    const options = ["--template", template, "--openapi", JSON.stringify(OPTIONS), "--output", output];
    await runRedocly(["build-docs", source, "--inlineBundle", ...options]);
    return readFile(output, "utf8");
  });
  return finishPage(html);
}

function readTemplate(): string {
  const read = (file: string) => readFileSync(join(ROOT, "docs", file), "utf8");
  const styles = ["shared.css", "reference.css"].map(read).join("");
  return read("reference.hbs").replace("{{{styles}}}", () => styles);
}

/** Hides the pattern of any text, and conditions, because Redoc would show each branch as another schema. */
function hideNoise(document: Draft): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part)) continue;
    if (part.pattern === TEXT_PATTERN) delete (part as Draft).pattern;
    if (!("if" in part && "then" in part)) continue;
    for (const keyword of ["if", "then", "else"]) delete (part as Draft)[keyword];
  }
}

/** Adds badges to the description of every element that has sources, and to each listed value that has its own. */
function addBadges(document: Draft): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part)) continue;
    const element: Draft = part;
    const sources = element["x-source"];
    const values = (element["x-enum-source"] ?? {}) as Record<string, Source[]>;
    if (Object.keys(values).length > 0) addToValues(element, values);
    if (Array.isArray(sources))
      element.description = `${element.description ?? ""}\n\n${badgesOf(sources)}`.trimStart();
  }
}

/** Adds badges to the rows of the table in which a description explains the values, or else to a table of their own. */
function addToValues(schema: Draft, values: Readonly<Record<string, Source[]>>): void {
  let description = String(schema.description ?? "");
  const apart: Draft = {};
  for (const [value, sources] of Object.entries(values)) {
    const row = new RegExp(`^(\\| \`${value.replaceAll(".", "\\.")}\` .*?) *\\|$`, "m");
    if (row.test(description)) description = description.replace(row, `$1 ${badgesOf(sources)} |`);
    else apart[value] = badgesOf(sources);
  }
  if (description !== "") schema.description = description;
  if (Object.keys(apart).length > 0) schema["x-enumDescriptions"] = apart;
}

/** Puts the description of a union before that of each branch, because Redoc shows only the branches, and not all of their titles. */
function tellChoices(document: Draft): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part) || !Array.isArray(part.oneOf) || part.description === undefined) continue;
    delete (part as Draft).discriminator;
    for (const reference of part.oneOf) {
      const branch: Draft = follow(document, reference);
      branch.description = `${part.description}\n\n${branch.description ?? ""}`.trimEnd();
    }
  }
}

/** Links to the clauses and decisions that an element comes from, and to those that a decision fills. */
export function badgesOf(sources: readonly Source[]): string {
  const link = (kind: string, id: string, text: string) => {
    const { title, page, anchor } = findHeading(id);
    const plain = title.replaceAll(/[`"&<>]/g, "");
    return `<a class="source ${kind}" href="${page}.html#${anchor}" title="${plain}">${text}</a>`;
  };
  const links = sources.map((source) => {
    const id = idOf(source);
    const [fills] = fillsOf(source);
    const badge = link(source.kind, id, `${source.kind} ${id}`);
    return fills === undefined ? badge : `${badge}${link("fills", fills, `fills ${fills}`)}`;
  });
  return `<span class="sources">${links.join(" ")}</span>`;
}

/** Corrects what no option of Redoc covers. Throws when a new release could send requests to a third party's server. */
function finishPage(html: string): string {
  if (!/const __redoc_options = \{[^\n]*"disableTelemetry":true[,}]/.test(html))
    throw new Error(
      "The page would report to Redocly from its readers' browsers: disableTelemetry is not on.",
    );
  const logo = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;
  const count = [...html.matchAll(logo)].length;
  if (count !== 2) throw new Error(`The page has ${count} addresses of logos, not 2.`);
  // The menu is rendered with paths of a server while the page routes by fragments, and hydration does not correct them.
  const scriptStart = html.indexOf('<script type="module">');
  const prerendered = html.slice(0, scriptStart).replaceAll(' href="/', ' href="#/');
  return (prerendered + html.slice(scriptStart)).replaceAll(logo, "data:,");
}
