/** Builds the sandbox's console (server/sandbox/console) into static files, unless they are current. */
import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { toPointer } from "../../openapi/document/pointer.ts";
import { readContract } from "../../openapi/document/read-contract.ts";
import { secondsSince } from "../shared/define-command.ts";
import { buildIfStale, replaceFile } from "../shared/files.ts";
import { LICENCES_FILE, licencesOf } from "../shared/licences.ts";
import { ROOT } from "../shared/root.ts";
import { readForm } from "./console-forms.ts";

const SOURCE = join(ROOT, "server/sandbox/console");
const STYLES = [
  join(ROOT, "docs/shared.css"), // which it shares with the docs
  ...["theme.css", "console.css", "records.css"].map((name) => join(SOURCE, name)),
];

const DIST = join(SOURCE, "dist");
const SOURCES = [
  "server/sandbox/console/{,ui/,views/}*.{ts,tsx,css}",
  "openapi/generated/{openapi,sandbox}.yaml",
  "docs/shared.css",
  "scripts/{shared,console}/*.ts",
  "openapi/document/*.ts",
  "node_modules/{preact,openapi-fetch,rolldown}/package.json",
];

/** Builds the console, unless its last build is of the same sources. */
export const ensureConsole = () => buildIfStale(DIST, SOURCES, buildConsole);

/** Builds the sandbox's console as static files, whose names change with their content. */
async function buildConsole(): Promise<void> {
  const start = performance.now();
  const script = await bundle("console-app.tsx", { CONTRACT: readForPage() });
  const styles = await Promise.all(STYLES.map((file) => readFile(file, "utf8")));
  const [js, css] = [toAsset("console", "js", script.code), toAsset("console", "css", styles.join(""))];
  const files = [
    js,
    css,
    ["index.html", toPage(js[0], css[0])],
    [LICENCES_FILE, await licencesOf(script.moduleIds)],
  ] as const;
  for (const [name, text] of files) await replaceFile(join(DIST, name), text);
  // Removed last, so that a server which starts meanwhile finds a whole page, old or new.
  const others = (await readdir(DIST)).filter((name) => !files.some(([own]) => own === name));
  await Promise.all(others.map((name) => rm(join(DIST, name), { force: true })));
  console.log(`console: built in ${secondsSince(start)}`);
}

/** @param values what the build inserts into the script, by the names of constants */
async function bundle(input: string, values: Readonly<Record<string, unknown>>): Promise<OutputChunk> {
  const define = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);
  const build = await rolldown({
    input: join(SOURCE, input),
    platform: "browser",
    tsconfig: false,
    transform: { jsx: { runtime: "automatic", importSource: "preact" }, define: Object.fromEntries(define) },
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  await build.close();
  return output[0];
}

/** The parts of the contract that the build inserts into the console's script (`console/ui/form-constraints.ts`). */
function readForPage() {
  const forms = [
    ["openapi", "RefundRequest"],
    ["openapi", "SubscriptionRequest"],
    ["sandbox", "NewPayment"],
    ["sandbox", "NewEvent"],
    ["sandbox", "NewFault"],
    ["sandbox", "NewSecret"],
  ] as const;
  const constraints = forms.map(([name, schema]) => {
    const pointer = toPointer(["components", "schemas", schema]);
    return [schema, readForm(readContract(name).document, pointer)];
  });
  return { forms: Object.fromEntries(constraints) };
}

function toAsset(name: string, type: string, content: string): [name: string, content: string] {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
  return [`${name}-${hash}.${type}`, content];
}

function toPage(js: string, css: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/${css}">
<script type="module" src="/console/${js}"></script>
<div id="root"></div>
<noscript>The console needs JavaScript. Everything that it shows is in the sandbox's contract, too: see /docs.</noscript>
</html>
`;
}

if (import.meta.main) await ensureConsole();
