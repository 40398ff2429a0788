import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFreePort } from "../helpers/network/local-server.ts";
import { startTestServer } from "../helpers/server.ts";
import { type Block, blocksOf } from "./code-blocks.ts";
import { createProjectFolder, type ProjectFolder } from "./project-folder.ts";

/** Pages whose code `npm run proof -- generators` runs. */
const RUN_ELSEWHERE = ["docs/guides/clients-by-language.md"];
const PAGES = ["README.md", ...globSync("docs/{*,guides/*}.md").toSorted()].filter(
  (page) => !RUN_ELSEWHERE.includes(page) && blocksOf(page).some(isRunnable),
);

/** Ports that the pages mention, besides the sandbox's. */
const PORTS = ["4000", "4010", "4011"];

/** A page starts a server, a sandbox or an exam, and waits for deliveries. */
const LIMIT_MS = 240_000;

// At once, because most programs wait.
test.concurrent.each(PAGES)("the code of %s does what the page says", { timeout: LIMIT_MS }, async (page) => {
  await using server = await startTestServer();
  await using project = await createProjectFolder(server.url);
  const ports = new Map([["3000", new URL(server.url).port]]);
  for (const port of PORTS) ports.set(port, String(await findFreePort()));
  const relocate = (text: string) => text.replaceAll(/\b(3000|40\d\d)\b/g, (port) => ports.get(port) ?? port);

  let printed = "";
  for (const block of blocksOf(page)) {
    try {
      const started = block.marks.get("output-of");
      if (started !== undefined) await project.started(started).untilPrinted(literally(block.text));
      else if (block.marks.has("output")) expectOutput(block, printed);
      else if (isRunnable(block) || block.marks.has("file"))
        printed = await runBlock(project, { ...block, text: relocate(block.text) });
    } catch (error) {
      throw new Error(`${page}:${block.line}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
});

/** Whether a reader would run it: all shell commands and scripts, unless they are marked `no-run`. */
function isRunnable({ language, marks }: Block): boolean {
  return ["sh", "js"].includes(language) && !marks.has("no-run");
}

async function runBlock(project: ProjectFolder, { language, text, marks, line }: Block): Promise<string> {
  const isShell = language === "sh";
  const name = marks.get("file") ?? marks.get("run") ?? `block-${line}.${isShell ? "sh" : "mjs"}`;
  await writeFile(join(project.folder, name), text);
  const command = isShell ? ["sh", "-eu"] : [process.execPath];
  const ready = marks.get("background");
  if (ready !== undefined) {
    await project.start(name, ...command, name).untilPrinted(new RegExp(ready.slice(1, -1)));
    return "";
  }
  // Later blocks use the files that have names.
  return marks.has("file") ? "" : project.run(...command, name);
}

function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}

/** The contract's version in an output. It is left out of the comparison, so that a release changes no guide. */
const VERSION = /(?<=version )[\d.]+\d/;

function expectOutput({ language, text }: Block, printed: string): void {
  if (language === "json") expect(masked(printed)).toEqual(masked(text));
  else expect(printed.replace(VERSION, "…")).toBe(text.replace(VERSION, "…"));
}

/** Parses JSON, in which values that differ between runs are masked: ids, instants and cursors. */
function masked(json: string): unknown {
  const text = JSON.stringify(JSON.parse(json))
    .replaceAll(/"(rfd|sub|pay)_[0-9a-f-]{36}"/g, '"$1_…"')
    .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "urn:uuid:…")
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replaceAll(/"nextCursor":"[\w-]+"/g, '"nextCursor":"…"');
  return JSON.parse(text);
}
