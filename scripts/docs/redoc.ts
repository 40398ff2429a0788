import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withTempDir } from "../command/files.ts";
import { runRedocly } from "../command/redocly.ts";
import { ROOT } from "../command/root.ts";
import { readAssets } from "./assets.ts";
import { renderFooter, renderHeader, renderMenu } from "./layout.ts";
import { SAMPLE_LANGUAGES } from "./reference/samples.ts";
import type { Site } from "./rendering.ts";

const PAGE = "reference.html";
const TEMPLATE = "docs/template.hbs";
const STYLES = ["docs/shared.css", "docs/frame.css", "docs/reference.css"];

const OPTIONS = {
  disableTelemetry: true,
  maxDisplayedEnumValues: 20,
  schemasExpansionLevel: 3,
  jsonSamplesExpandLevel: 9,
  // Redoc shows samples in the languages that it knows by their labels, and drops the others.
  codeSamples: { languages: [...SAMPLE_LANGUAGES, { lang: "Payload" }] },
};

/** Renders a document as one HTML page that loads nothing from other hosts, so that none of them learns who reads it. */
export async function renderReferencePage(document: unknown, site: Site): Promise<string> {
  const html = await withTempDir(async (folder) => {
    const [source, template, output] = ["document.json", "template.hbs", "index.html"].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const { styles, head, script, version } = await readAssets(STYLES);
    const frame = await readFile(join(ROOT, TEMPLATE), "utf8");
    await writeFile(source, JSON.stringify(document));
    await writeFile(
      template,
      frame
        .replace("{{{styles}}}", () => styles)
        .replace("{{{script}}}", () => script)
        .replace("{{{head}}}", () => head)
        .replace("{{{header}}}", () => renderHeader(PAGE))
        .replace("{{{menu}}}", () => renderMenu({ pages: site.pages, reference: site.menu }, PAGE))
        .replace("{{{footer}}}", () => renderFooter(version)),
    );
    const options = ["--template", template, "--openapi", JSON.stringify(OPTIONS), "--output", output];
    await runRedocly(["build-docs", source, "--inlineBundle", ...options]);
    return readFile(output, "utf8");
  });
  return finishPage(html);
}

/**
 * Corrects what no option of Redoc covers. Throws when a new release generates a different page, which could otherwise send
 * requests to a third party's server unnoticed.
 */
function finishPage(html: string): string {
  if (!/const __redoc_options = \{[^\n]*"disableTelemetry":true[,}]/.test(html)) {
    throw new Error(
      "The page would report to Redocly from its readers' browsers: disableTelemetry is not on.",
    );
  }
  return linkWithinPage(embedLogos(html));
}

const LOGO_ADDRESS = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;

/** Redoc loads its two logos, wide and narrow, from a server of its vendor. */
function embedLogos(html: string): string {
  const count = [...html.matchAll(LOGO_ADDRESS)].length;
  if (count !== 2) throw new Error(`The page has ${count} addresses of logos, not 2.`);
  return html.replace(LOGO_ADDRESS, (_, full?: string) =>
    full ? drawLogo("Redocly", 44) : drawLogo("R", 12),
  );
}

/** A logo as a data: address without quotes or backticks, because it is inserted into a script. */
function drawLogo(text: string, width: number): string {
  const font = "font-family='sans-serif' font-size='11' font-weight='600' fill='#3a7bff'";
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' width='${width}' height='14'><text y='11' ${font}>${text}</text></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

/**
 * The prerendered menu links to paths of a server (`/refunds`) while the page routes by fragments (`#/refunds`), and
 * hydration does not correct them: opened in a new tab, they would lead nowhere.
 */
function linkWithinPage(html: string): string {
  const scriptStart = html.indexOf('<script type="module">');
  const prerendered = html.slice(0, scriptStart).replaceAll(' href="/', ' href="#/');
  return prerendered + html.slice(scriptStart);
}
