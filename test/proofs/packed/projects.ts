import { mkdir, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { run } from "../../../scripts/packages/run-program.ts";
import { MAIN, PROGRAM } from "./program.ts";

/** Creates a merchant's project with packages installed from their tarballs, ready to compile `program.ts` and to run `main.js`. */
export async function openProject(folder: string, tarballs: readonly string[]): Promise<string> {
  await mkdir(folder);
  const manifest = { name: "merchant", version: "1.0.0", private: true, type: "module" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs], folder);
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await writeFile(join(folder, "program.js"), stripTypeScriptTypes(PROGRAM));
  await writeFile(join(folder, "main.js"), MAIN);
  return folder;
}
