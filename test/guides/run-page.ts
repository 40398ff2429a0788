import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { findFreePort } from "../helpers/network/free-port.ts";
import { startTestServer } from "../helpers/server.ts";
import { type Block, isRunnable } from "./blocks.ts";
import { masked } from "./masked.ts";
import { createProjectFolder, type ProjectFolder } from "./project-folder.ts";

/** Ports that the docs mention, besides the sandbox's. */
const PORTS = ["4000", "4001", "4010", "4011", "4040"];

const SUFFIX: Readonly<Record<string, string>> = { js: "mjs", ts: "mts", python: "py", sh: "sh" };

/** Runs the blocks of a page in order with a sandbox of its own, and compares their output with the page. */
export async function runPage(blocks: readonly Block[]): Promise<void> {
  await using server = await startTestServer();
  await using project = await createProjectFolder(server.url);
  const ports = new Map([["3000", new URL(server.url).port]]);
  for (const port of PORTS) ports.set(port, String(await findFreePort()));
  const relocate = (text: string) => text.replaceAll(/\b(3000|40\d\d)\b/g, (port) => ports.get(port) ?? port);

  let printed = "";
  for (const block of blocks) {
    try {
      if (isRunnable(block)) printed = await runBlock(project, { ...block, text: relocate(block.text) });
      else if (block.marks.has("output")) expectOutput(block, printed);
      const started = block.marks.get("output-of");
      if (started !== undefined) await project.started(started).untilPrinted(literally(block.text));
    } catch (error) {
      throw new Error(`the block at line ${block.line}: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
  }
}

async function runBlock(project: ProjectFolder, { language, text, marks, line }: Block): Promise<string> {
  const name = marks.get("file") ?? marks.get("run") ?? `block-${line}.${SUFFIX[language]}`;
  await writeFile(join(project.folder, name), text);
  const command = commandFor(language);
  const ready = marks.get("background");
  if (ready !== undefined) {
    await project.start(name, ...command, name).untilPrinted(new RegExp(ready.slice(1, -1)));
    return "";
  }
  // Later blocks use the files that have names.
  return marks.has("file") ? "" : project.run(...command, name);
}

function commandFor(language: string): string[] {
  if (language === "sh") return ["sh", "-eu"];
  return language === "python" ? ["python3"] : [process.execPath];
}

function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
}

function expectOutput({ language, text }: Block, printed: string): void {
  if (language === "json") expect(masked(JSON.parse(printed))).toEqual(masked(JSON.parse(text)));
  else expect(printed).toBe(text);
}
