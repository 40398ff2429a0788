/** Writes the files by which a package is run or imported. They check the version of Node before they load the rest. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../shared/root.ts";
import type { PackageSource } from "./package-list.ts";

/** The oldest Node that the packages run on: the first in which `node:sqlite` needs no flag; it locks the data folder. */
export const OLDEST_NODE = "22.13";

/**
 * Writes the modules by which a package is started and imported. Each checks the version of Node before it imports anything: an older
 * one can't parse the rest, and would print a syntax error. The library gets a CommonJS form as well.
 * @param names what the library exports, besides types: functions that return promises, and classes of errors
 */
export async function writeEntries(
  { folder, modules, typed = [] }: PackageSource,
  dist: string,
  names: readonly string[],
): Promise<void> {
  const write = (file: string, text: string) => writeFile(join(dist, file), text);
  const { name } = JSON.parse(await readFile(join(ROOT, folder, "package.json"), "utf8"));
  const [major, minor] = OLDEST_NODE.split(".");
  await write(
    "node-version.cjs",
    `const [major, minor] = process.versions.node.split(".").map(Number);
const isOld = major < ${major} || (major === ${major} && minor < ${minor});
module.exports = isOld
  ? "${name} needs Node ${OLDEST_NODE} or newer, and this is Node " + process.versions.node + ": install one from https://nodejs.org."
  : undefined;
`,
  );
  const check = 'import problem from "./node-version.cjs";\n';
  const program = modules.find((module) => module.endsWith("/cli.ts"));
  if (program !== undefined)
    await write(
      "start.js",
      `#!/usr/bin/env node\n${check}if (problem) {
  console.error(problem);
  process.exit(1);
}
await import(${toImport(program)});
`,
    );
  const [library] = typed;
  if (library === undefined) return;
  const from = toImport(library);
  await write("index.js", `${check}export * from ${from};\nif (problem) throw new Error(problem);\n`);
  await write("index.d.ts", `export * from ${from};\n`);
  const [classes, functions] = [
    names.filter((value) => /^[A-Z]/.test(value)),
    names.filter((value) => /^[a-z]/.test(value)),
  ];
  await write(
    "index.cjs",
    `"use strict";
const problem = require("./node-version.cjs");
if (problem) throw new Error(problem);
const load = () => import("./index.js").catch(loadOutside);
// Jest runs tests in contexts that can't load ES modules, but the main one can.
function loadOutside(error) {
  if (!/VM|--experimental-vm-modules/.test(error.code + error.message)) throw error;
  const { constants, runInThisContext } = require("node:vm");
  const options = { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  return runInThisContext("(url) => import(url)", options)(require("node:url").pathToFileURL(__dirname + "/index.js").href);
}
${functions.map((value) => `exports.${value} = async (...args) => (await load()).${value}(...args);\n`).join("")}${classes
  .map(
    (value) =>
      `exports.${value} = class ${value} extends Error {\n  static [Symbol.hasInstance](error) {\n    return error?.name === "${value}";\n  }\n};\n`,
  )
  .join("")}`,
  );
  const mode = 'with { "resolution-mode": "import" }';
  const values = names.map((value) => `export declare const ${value}: typeof library.${value};\n`).join("");
  // A class is also a type.
  const instances = classes.map((value) => `export type ${value} = library.${value};\n`).join("");
  await write(
    "index.d.cts",
    `import type * as library from ${from} ${mode};\nexport type * from ${from} ${mode};\n${values}${instances}`,
  );
}

function toImport(module: string): string {
  return JSON.stringify(`./${module.replace(/\.ts$/, ".js")}`);
}
