import { mkdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command/root.ts";
import { run } from "../../../scripts/packages/run.ts";
import { MAIN, PROGRAM } from "./program.ts";

/** A merchant's project with the package installed from the tarball, ready to run `main.js`. */
export type Project = {
  readonly name: string;
  readonly folder: string;
};

export async function openJavaScriptProject(parent: string, tarball: string): Promise<Project> {
  const folder = await openProject(join(parent, "javascript"), [tarball]);
  await writeFile(join(folder, "program.js"), stripTypeScriptTypes(PROGRAM));
  return { name: "JavaScript", folder };
}

/** Compiled as strictly as possible, including the declarations of the package and of its dependencies. */
export async function openTypeScriptProject(parent: string, tarball: string): Promise<Project> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const folder = await openProject(join(parent, "typescript"), [
    tarball,
    `typescript@${devDependencies.typescript}`,
  ]);
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  await writeFile(join(folder, "program.ts"), PROGRAM);
  await run(join(folder, "node_modules/.bin/tsc"), [], folder);
  return { name: "strict TypeScript", folder };
}

async function openProject(folder: string, packages: readonly string[]): Promise<string> {
  await mkdir(folder);
  const manifest = { name: "merchant", version: "1.0.0", private: true, type: "module" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--no-audit", "--no-fund", ...packages], folder);
  await writeFile(join(folder, "main.js"), MAIN);
  return folder;
}
