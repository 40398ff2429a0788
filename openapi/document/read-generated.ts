import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/**
 * Reads a document of `openapi/generated`. Parsing the YAML takes up to a second, so packages contain the JSON as well, and a clone
 * keeps it in `.cache`.
 */
export function readGenerated(file: `${DocumentName}.${"json" | "yaml"}`): string {
  const text = readIfThere(new URL(`../generated/${file}`, import.meta.url));
  if (text !== undefined) return text;
  const name = file.replace(/json$/, "yaml");
  const yaml = readIfThere(new URL(`../generated/${name}`, import.meta.url));
  if (yaml === undefined) throw new Error(`openapi/generated/${name} is missing. Run: npm run generate`);
  const hash = createHash("sha256").update(yaml).digest("hex").slice(0, 16);
  const cache = new URL("../../.cache/contracts/", import.meta.url);
  return readIfThere(new URL(`${hash}.json`, cache)) ?? keep(toJson(yaml), cache, hash);
}

/** The contract, the same as OpenAPI 3.0, and the sandbox's calls. */
export type DocumentName = "openapi" | "openapi-3.0" | "sandbox";

/** The JSON of a document, as it is published. */
export function toJson(yaml: string): string {
  const { parse }: typeof import("yaml") = createRequire(import.meta.url)("yaml");
  return `${JSON.stringify(parse(yaml), null, 2)}\n`;
}

/** Other processes may read at the same time, so they only ever find a finished file. */
function keep(json: string, cache: URL, hash: string): string {
  const written = new URL(`${hash}.${process.pid}`, cache);
  mkdirSync(cache, { recursive: true });
  writeFileSync(written, json);
  renameSync(written, new URL(`${hash}.json`, cache));
  return json;
}

function readIfThere(file: URL): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
