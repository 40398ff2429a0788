import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { type Measured, toProbe } from "./probe.ts";
import type { Tool } from "./tools.ts";

/** The flags that this project uses beyond `strict`, with which generated code may not compile. */
const EXTRA_FLAGS = [
  "exactOptionalPropertyTypes",
  "noUncheckedIndexedAccess",
  "noImplicitOverride",
  "noFallthroughCasesInSwitch",
  "verbatimModuleSyntax",
  "erasableSyntaxOnly",
] as const;

type Flag = (typeof EXTRA_FLAGS)[number];

/** The measured types of a project, and the flags with which its generated code does not compile. */
export type Compiled = { readonly measured: Measured; readonly refused: readonly Flag[] };

const BASE: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ["node"],
  strict: true,
  isolatedModules: true,
  skipLibCheck: true,
  noEmit: true,
};

/** The compiler's own libraries are the same for every project and every set of flags. */
const sources = new Map<string, ts.SourceFile | undefined>();

/**
 * Compiles a project's client and program, strictly and with as many further flags as possible, and measures the types.
 * Throws the compiler's messages when they don't compile without further flags.
 */
export async function compileProject(tool: Tool, folder: string): Promise<Compiled> {
  const probe = join(folder, "probe.ts");
  await writeFile(probe, toProbe(tool));
  const program = (flags: readonly Flag[]) => createProgram([join(folder, "example.ts"), probe], flags);
  const fails = (flags: readonly Flag[]) => ts.getPreEmitDiagnostics(program(flags)).length > 0;

  const refused = fails(EXTRA_FLAGS) ? EXTRA_FLAGS.filter((flag) => fails([flag])) : [];
  const compiled = program(EXTRA_FLAGS.filter((flag) => !refused.includes(flag)));
  const errors = ts.getPreEmitDiagnostics(compiled);
  if (errors.length > 0) throw new Error(format(errors));
  return { measured: evaluate(compiled, probe), refused };
}

function createProgram(files: string[], flags: readonly Flag[]): ts.Program {
  const options = { ...BASE, ...Object.fromEntries(flags.map((flag) => [flag, true])) };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (name, ...rest) => {
    if (!sources.has(name)) sources.set(name, read(name, ...rest));
    return sources.get(name);
  };
  return ts.createProgram(files, options, host);
}

/** Reads the type `Measured` of a probe, each of its fields as the compiler prints it. */
function evaluate(program: ts.Program, probe: string): Measured {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(probe);
  const declared = file?.statements
    .filter(ts.isTypeAliasDeclaration)
    .find(({ name }) => name.text === "Measured");
  if (!declared) throw new Error(`${probe} declares no Measured`);
  const fields = checker
    .getTypeAtLocation(declared)
    .getProperties()
    .map((field) => {
      const type = checker.getTypeOfSymbolAtLocation(field, declared);
      return [field.name, type.isStringLiteral() ? type.value : checker.typeToString(type)];
    });
  return Object.fromEntries(fields);
}

function format(errors: readonly ts.Diagnostic[]): string {
  const host = {
    getCanonicalFileName: String,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => "\n",
  };
  return ts.formatDiagnostics(errors.slice(0, 10), host);
}
