import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { parse, stringify } from "yaml";
import { collect, defineProof } from "../../../scripts/command/command.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { recordProjects } from "./by-project.ts";
import { type Area, type Fault, nameOf, plant, readAreas } from "./faults.ts";
import { OUTSIDE, openSourceCopy, type SourceCopy } from "./source-copy.ts";

/** What the last run of each fault found, by the fault's name. */
type Table = Record<string, { on: string; ran: readonly string[]; caughtBy: readonly string[] }>;
/** Runs test files, and resolves with those that fail because of a fault. */
type Run = (filters: readonly string[]) => Promise<string[]>;

const TABLE = join(ROOT, "test/proofs/planted/caught.yaml");

const { only, tests, missing, known, projects } = defineProof("planted")
  .option("--only <text>", "only faults whose file or text contains this")
  .option("--tests <filter>", "these test files instead of those of the area; repeatable", collect, [])
  .option("--missing", "only faults that the table does not have yet, to go on after an interruption")
  .option("--known", "only the test files that caught each fault before, and leave the table as it is")
  .addOption(
    new Option(
      "--projects",
      "find out which projects of npm test catch each fault, and a mutant of each kind: takes hours",
    ).conflicts(["tests", "known"]),
  )
  .parse()
  .opts();

const slipped = await (projects ? recordProjects({ only, missing: missing === true }) : recordFiles());
// Vitest sets a code of its own for the tests that fail as they should.
process.exitCode = slipped > 0 ? 1 : 0;

/** Resolves with the number of faults that no test caught. */
async function recordFiles(): Promise<number> {
  const areas = await readAreas();
  const table: Table = parse(await readFile(TABLE, "utf8"));
  await using copy = await openSourceCopy();
  let slipped = 0;
  for (const area of areas) slipped += await recordArea(area, table, copy);
  printTable(table);
  return slipped;
}

async function recordArea(area: Area, table: Table, copy: SourceCopy): Promise<number> {
  const faults = area.faults
    .filter((fault) => !only || nameOf(fault).includes(only))
    .filter((fault) => !(missing && nameOf(fault) in table));
  const stagesOf = (fault: Fault): (readonly string[])[] => {
    if (known) return [table[nameOf(fault)]?.caughtBy.filter((file) => file !== OUTSIDE) ?? []];
    return tests.length > 0 ? [tests] : [area.tests, area.otherwise ?? []];
  };
  const run: Run = async (filters) =>
    filters.length > 0 ? copy.failingFiles(await copy.findTests(filters)) : [];
  const failing = await run([...new Set(faults.flatMap(stagesOf).flat())]);
  if (failing.length > 0)
    process.stdout.write(`not counted, because they fail as it is: ${failing.join(", ")}\n`);
  const runCounted: Run = async (filters) => (await run(filters)).filter((file) => !failing.includes(file));

  let slipped = 0;
  for (const fault of faults) {
    const { ran, caughtBy } = await copy.withChange(
      fault.file,
      (text) => plant(fault, text),
      () => runUntilCaught(stagesOf(fault), runCounted),
    );
    if (!known) {
      table[nameOf(fault)] = { on: new Date().toISOString().slice(0, 10), ran, caughtBy };
      await writeFile(TABLE, stringify(table, { lineWidth: 0 }));
    }
    if (caughtBy.length === 0) slipped += 1;
    process.stdout.write(`${nameOf(fault)}\n  ${caughtBy.join("\n  ") || "NOBODY"}\n`);
  }
  return slipped;
}

async function runUntilCaught(stages: readonly (readonly string[])[], run: Run) {
  const ran: string[] = [];
  for (const filters of stages) {
    ran.push(...filters);
    const caughtBy = await run(filters);
    if (caughtBy.length > 0) return { ran, caughtBy };
  }
  return { ran, caughtBy: [] };
}

function printTable(table: Table): void {
  const entries = Object.entries(table);
  const uncaught = entries.filter(([, { caughtBy }]) => caughtBy.length === 0).map(([name]) => name);
  const alone = entries.filter(([, { caughtBy }]) => caughtBy.length === 1);
  process.stdout.write(`\n${entries.length} faults; ${uncaught.length} caught by nobody\n`);
  for (const name of uncaught) process.stdout.write(`nobody: ${name}\n`);
  for (const [file, caught] of Map.groupBy(alone, ([, { caughtBy }]) => caughtBy[0])) {
    process.stdout.write(`only ${file}\n${caught.map(([name]) => `  ${name}\n`).join("")}`);
  }
}
