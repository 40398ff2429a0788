import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");

/**
 * Packages that make a test slow: processes (with which every database, browser and command is started), the mock, and the
 * compilers.
 */
const SLOW = /^(node:child_process|@stoplight\/.+|typescript|rolldown)$/;

const IMPORT = /^(?:import|export) (?!type )(?:[^"';]*? from )?"([^"]+)"|\b(?:import|resolve)\("([^"]+)"\)/gm;

/**
 * The test files of the inner loop, as paths from the root: `test/domain/money.test.ts`. Imports decide, so that no list has to
 * be kept: a file that imports no slow package, directly or indirectly, is a unit test.
 */
export function findUnitTests(): string[] {
  const known = new Map<string, readonly string[]>();
  return globSync("test/**/*.test.ts", { cwd: ROOT })
    .filter((path) => !reachesSlow(join(ROOT, path), known))
    .map((path) => relative(ROOT, join(ROOT, path)))
    .toSorted();
}

function reachesSlow(file: string, known: Map<string, readonly string[]>): boolean {
  const seen = new Set<string>();
  const waiting = [file];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const imports = known.get(next) ?? readImports(next);
    known.set(next, imports);
    if (imports.some((name) => SLOW.test(name))) return true;
    // A program that a test only quotes can name files that do not exist here.
    waiting.push(...imports.filter((path) => path.endsWith(".ts") && existsSync(path)));
  }
  return false;
}

/** Names of packages as they are, and files of the project as absolute paths. */
function readImports(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, from, dynamic]) => {
    const name = from ?? dynamic ?? "";
    return name.startsWith(".") ? join(dirname(file), name) : name;
  });
}
