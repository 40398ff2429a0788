import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { readContract } from "../../openapi/document/contract.ts";
import { ROOT } from "../command/root.ts";
import type { Assets } from "./layout.ts";
import type { Entry } from "./search/search.ts";

const BROWSER = join(ROOT, "scripts/docs/browser");

/** The files that a page is made of, besides its text. */
const STYLES = ["shared", "frame", "page", "code", "home"].map((name) => `docs/${name}.css`);

/** The parts of every page: the styles, two small scripts, and the version in its footer. */
export async function readAssets(styles: readonly string[] = STYLES): Promise<Assets> {
  const texts = await Promise.all(styles.map((file) => readFile(join(ROOT, file), "utf8")));
  const { version } = readContract("openapi").document.info as { version: string };
  const [head, script] = await Promise.all([bundle("head.ts"), bundle("site.ts")]);
  return {
    ...{ styles: texts.join("\n"), head: head.code, script: script.code, version },
    modules: [...head.moduleIds, ...script.moduleIds],
  };
}

/** The search with its index, which a page loads when its reader wants to search. */
export async function renderSearch(entries: readonly Entry[]): Promise<Bundle> {
  const { code, moduleIds } = await bundle("search-index.ts", "docsSearch");
  return { code: `${code}docsSearch.start(${JSON.stringify(entries)});\n`, moduleIds };
}

/** A script, and the modules that it is made of. */
type Bundle = { readonly code: string; readonly moduleIds: readonly string[] };

async function bundle(file: string, name?: string): Promise<Bundle> {
  await using build = await rolldown({ input: join(BROWSER, file), logLevel: "warn" });
  const { output } = await build.generate({ format: "iife", minify: true, ...(name && { name }) });
  const { code, moduleIds } = output[0];
  return { code: `${code.trim()}\n`, moduleIds };
}
