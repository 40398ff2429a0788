import { cpSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { createVitest } from "vitest/node";
import { parse, stringify } from "yaml";
import { collect, defineProof } from "../../../scripts/command/command.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";

type Fault = { readonly file: string; readonly find: string; readonly replace: string };
type Area = {
  readonly area: string;
  readonly tests: readonly string[];
  /** Tests that take long, and run only for a fault that none of the others catches. */
  readonly otherwise?: readonly string[];
  readonly faults: readonly Fault[];
};
/** What the last run of each fault found, by the fault's name. */
type Table = Record<string, { on: string; ran: readonly string[]; caughtBy: readonly string[] }>;

const HERE = join(ROOT, "test/proofs/planted");
const TABLE = join(HERE, "caught.yaml");
/** A fault can make tests wait for what never comes. */
const TEST_LIMIT_MS = 120_000;
/** The project's own state, and what is made anew. */
const LEFT_OUT = /^(\.git|node_modules|\.data)$/;

const { only, tests, missing, known } = defineProof("planted")
  .option("--only <text>", "only faults whose file or text contains this")
  .option("--tests <filter>", "these test files instead of those of the area; repeatable", collect, [])
  .option("--missing", "only faults that the table does not have yet, to go on after an interruption")
  .option("--known", "only the test files that caught each fault before, and leave the table as it is")
  .parse()
  .opts();

const areas: readonly Area[] = parse(await readFile(`${HERE}/faults.yaml`, "utf8"));
const table: Table = parse(await readFile(TABLE, "utf8").catch(() => "{}"));
let slipped = 0;
const copy = await copyTree();
process.chdir(copy);
// One instance for all runs, so that the databases are made once.
const vitest = await createVitest("test", { reporters: [], testTimeout: TEST_LIMIT_MS });
try {
  for (const area of areas) await runArea(area);
} finally {
  await vitest.close();
  process.chdir(ROOT);
  await rm(copy, { recursive: true });
}
printTable();
// Vitest sets a code of its own for the tests that fail as they should.
process.exitCode = slipped > 0 ? 1 : 0;

async function runArea(area: Area): Promise<void> {
  const faults = area.faults.filter((fault) => !only || nameOf(fault).includes(only));
  const chosen = faults.filter((fault) => !(missing && nameOf(fault) in table));
  if (chosen.length === 0) return;
  const stagesOf = (fault: Fault) => {
    if (known) return [table[nameOf(fault)]?.caughtBy ?? []];
    return tests.length > 0 ? [tests] : [area.tests, area.otherwise ?? []];
  };
  const failing = await failingFiles([...new Set(chosen.flatMap(stagesOf).flat())]);
  if (failing.length > 0)
    process.stdout.write(`not counted, because they fail as it is: ${failing.join(", ")}\n`);
  for (const fault of chosen) {
    const { ran, caughtBy } = await plant(fault, () => runUntilCaught(stagesOf(fault), failing));
    if (!known) {
      table[nameOf(fault)] = { on: new Date().toISOString().slice(0, 10), ran, caughtBy };
      await writeFile(TABLE, stringify(table, { lineWidth: 0 }));
    }
    if (caughtBy.length === 0) slipped += 1;
    process.stdout.write(`${nameOf(fault)}\n  ${caughtBy.join("\n  ") || "NOBODY"}\n`);
  }
}

function nameOf({ file, find, replace }: Fault): string {
  return `${file}: ${find} → ${replace}`;
}

async function plant<Result>({ file, find, replace }: Fault, work: () => Promise<Result>): Promise<Result> {
  const path = join(copy, file);
  const original = await readFile(path, "utf8");
  const [before = "", after, ...more] = original.split(find);
  if (after === undefined || more.length > 0) throw new Error(`${file} has not once: ${find}`);
  const write = async (source: string) => {
    await writeFile(path, source);
    vitest.invalidateFile(path);
  };
  await write(before + replace + after);
  return work().finally(() => write(original));
}

async function runUntilCaught(stages: readonly (readonly string[])[], failing: readonly string[]) {
  const ran: string[] = [];
  for (const filters of stages) {
    if (filters.length === 0) continue;
    ran.push(...filters);
    const caughtBy = (await failingFiles(filters)).filter((file) => !failing.includes(file));
    if (caughtBy.length > 0) return { ran, caughtBy };
  }
  return { ran, caughtBy: [] };
}

async function failingFiles(filters: readonly string[]): Promise<string[]> {
  const specifications = await vitest.globTestSpecifications([...filters]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, true);
  // The result also has the files of earlier runs.
  const ran = new Set(specifications.map(({ moduleId }) => moduleId));
  const failed = testModules
    .filter((module) => ran.has(module.moduleId) && !module.ok())
    .map(({ moduleId }) => relative(copy, moduleId));
  return unhandledErrors.length > 0 ? [...failed, "an error outside of tests"] : failed;
}

/** The working tree as it is; packages are links to the originals, but for our own, which are links into the copy. */
async function copyTree(): Promise<string> {
  const folder = await makeTempDir();
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.test(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const own = "node_modules/@refund-contract";
  await mkdir(join(folder, own), { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    const entry = join("node_modules", name);
    if (entry !== own) await symlink(join(ROOT, entry), join(folder, entry));
  }
  cpSync(join(ROOT, own), join(folder, own), { recursive: true, verbatimSymlinks: true });
  return folder;
}

function printTable(): void {
  const entries = Object.entries(table);
  const uncaught = entries.filter(([, { caughtBy }]) => caughtBy.length === 0).map(([name]) => name);
  const alone = entries.filter(([, { caughtBy }]) => caughtBy.length === 1);
  process.stdout.write(`\n${entries.length} faults; ${uncaught.length} caught by nobody\n`);
  for (const name of uncaught) process.stdout.write(`nobody: ${name}\n`);
  for (const [file, caught] of Map.groupBy(alone, ([, { caughtBy }]) => caughtBy[0])) {
    process.stdout.write(`only ${file}\n${caught.map(([name]) => `  ${name}\n`).join("")}`);
  }
}
