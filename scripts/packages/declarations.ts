/** Writes the .d.ts files of a package. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { ROOT } from "../shared/root.ts";

/** A module of this tree that declarations refer to. */
const RELATIVE = /((?:from|import\()\s*)"(\.[^"]+)\.ts"/g;

const COMPILER_OPTIONS: ts.CompilerOptions = {
  declaration: true,
  isolatedDeclarations: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  stripInternal: true,
};

/** Writes the declarations of modules and of those that they name, file by file, so exports must declare their types. */
export async function emitTypes(modules: readonly string[], dist: string): Promise<void> {
  const files = new Set(modules.map((module) => join(ROOT, module)));
  for (const file of files) {
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(await readFile(file, "utf8"), {
      fileName: file,
      reportDiagnostics: true,
      compilerOptions: COMPILER_OPTIONS,
    });
    if (diagnostics.length > 0) throw new Error(describe(file, diagnostics));
    for (const [, , name = ""] of outputText.matchAll(RELATIVE))
      files.add(resolve(dirname(file), `${name}.ts`));
    const target = join(dist, relative(ROOT, file).replace(/\.ts$/, ".d.ts"));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, outputText.replaceAll(RELATIVE, '$1"$2.js"'));
  }
}

function describe(file: string, diagnostics: readonly ts.Diagnostic[]): string {
  const host = { getCanonicalFileName: String, getCurrentDirectory: () => ROOT, getNewLine: () => "\n" };
  return `${file}\n${ts.formatDiagnostics(diagnostics, host)}`;
}
