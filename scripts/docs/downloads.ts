import { readGenerated } from "../../openapi/document/generated.ts";

/** The contract, which every page offers under these names. */
const DOWNLOADS = [
  ["openapi.yaml", "OpenAPI 3.1, YAML"],
  ["openapi.json", "OpenAPI 3.1, JSON"],
  ["openapi-3.0.yaml", "OpenAPI 3.0, YAML"],
  ["openapi-3.0.json", "OpenAPI 3.0, JSON"],
] as const;

/** The files, so that a site without a server offers them, too. */
export function readDownloads(): [name: string, text: string][] {
  return DOWNLOADS.map(([name]) => [name, readGenerated(name)]);
}

const IMPORT = "testing-with-the-sandbox";
const IMPORT_HEADING = "postman-bruno-and-insomnia";

/** Buttons for a page of the site. */
export function renderDownloads(): string {
  const links = DOWNLOADS.map(([name, label]) => {
    const [version = "", format = ""] = label.split(", ");
    const link = `<a class="download" href="${name}" download="${name}" aria-label="${label}">${format}</a>`;
    return format === "YAML" ? `${version} ${link}` : link;
  });
  return `<p class="downloads">Download ${links.join(" ")} <a href="${IMPORT}.html#${IMPORT_HEADING}">Open in Postman, Bruno, Insomnia</a></p>`;
}

/** The same as Markdown. */
export function writeDownloads(): string {
  const links = DOWNLOADS.map(([name, label]) => `[${label}](${name})`);
  return `Download the contract: ${links.join(" · ")}. [Open in Postman, Bruno, Insomnia](${IMPORT}.md#${IMPORT_HEADING}).`;
}
