import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestSpecification } from "vitest/node";
import { parse, stringify } from "yaml";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import { readContract } from "../../../openapi/document/contract.ts";
import { secondsSince } from "../../../scripts/command/command.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { makeMutants } from "../mutation/run-mutants.ts";
import { nameOf, plant, readAreas } from "./faults.ts";
import { openSourceCopy, type SourceCopy } from "./source-copy.ts";

/** The projects that catch each fault of the source, such as `unit, storage`, and two of those that catch a mutant of the contract. */
type Table = { faults: Record<string, string>; mutants: Record<string, string> };
type Change = {
  readonly kind: keyof Table;
  readonly name: string;
  readonly file: string;
  make(text: string): string;
};

const TABLE = join(ROOT, "test/proofs/planted/projects.yaml");
const CONTRACT = "openapi/generated/openapi.json";
/** Those of `npm test`. */
const PROJECTS = ["unit", "docs", "contract", "server", "storage"];
/** After this many projects that catch it, no others run: two show that none alone catches a mutant. */
const ENOUGH = { faults: PROJECTS.length, mutants: 2 };
/** It looks for the text that each fault replaces, and so would catch them all. */
const NEVER_RUN = "/faults-list.test.ts";

/**
 * Makes each change, and keeps which projects have a test that fails then. Prints how many of them each project alone catches, and
 * resolves with the number of those that none catches. Docs and console are built before, so that tests of built pages can't catch a
 * mutant.
 */
export async function recordProjects({
  only = "",
  missing,
}: {
  readonly only?: string | undefined;
  readonly missing: boolean;
}): Promise<number> {
  const table: Table = parse(await readFile(TABLE, "utf8"));
  const changes = [...(await listFaults()), ...listMutants()]
    .filter(({ name }) => name.includes(only))
    .filter(({ kind, name }) => !(missing && name in table[kind]));
  const readers = changes.some(({ kind }) => kind === "mutants") ? await readersOfContract() : [];
  await using copy = await openSourceCopy({ bail: 1 });
  const all = (await copy.findTests()).filter(({ moduleId }) => !moduleId.endsWith(NEVER_RUN));
  const mutants = all.filter(({ moduleId }) => readers.some((file) => moduleId.endsWith(`/${file}`)));
  const tests = { faults: all, mutants };
  const failing = await caughtBy(copy, all);
  if (failing.length > 0) throw new Error(`tests fail without any change: ${failing.join(", ")}`);

  let uncaught = 0;
  for (const { kind, name, file, make } of changes) {
    const start = performance.now();
    const projects = await copy.withChange(file, make, () => caughtBy(copy, tests[kind], ENOUGH[kind]));
    table[kind][name] = projects.join(", ");
    await writeFile(TABLE, stringify(table, { lineWidth: 0 }));
    if (projects.length === 0) uncaught += 1;
    process.stdout.write(`${name}\n  ${table[kind][name] || "NOBODY"} (${secondsSince(start)})\n`);
  }
  printTable(table);
  return uncaught;
}

/**
 * The test files that can notice a mutant, which are those that fail without a contract. Those that fail for any change of it, even
 * one without a meaning, are left out: they show that the contract changed, not that the change is wrong.
 */
async function readersOfContract(): Promise<string[]> {
  await using copy = await openSourceCopy();
  const all = (await copy.findTests()).filter(({ project }) => PROJECTS.includes(project.name));
  const failingWith = (change: (text: string) => string) =>
    copy.withChange(CONTRACT, change, () => copy.failingFiles(all));
  const refusing = await failingWith((text) => text.replace('"info": {', '"info": { "x-change": true,'));
  const readers = (await failingWith(() => "")).filter((file) => !refusing.includes(file));
  process.stdout.write(
    `${readers.length} of ${all.length} test files read the contract; left out: ${refusing.join(", ")}\n`,
  );
  return readers;
}

/** Ends when `enough` projects have a test that fails. */
async function caughtBy(
  copy: SourceCopy,
  tests: readonly TestSpecification[],
  enough = PROJECTS.length,
): Promise<string[]> {
  const projects: string[] = [];
  for (const name of PROJECTS) {
    if (projects.length === enough) break;
    const failing = await copy.failingFiles(tests.filter(({ project }) => project.name === name));
    if (failing.length > 0) projects.push(name);
  }
  return projects;
}

async function listFaults(): Promise<Change[]> {
  const areas = await readAreas();
  return areas
    .flatMap(({ faults }) => faults)
    .map((fault) => ({
      kind: "faults",
      name: nameOf(fault),
      file: fault.file,
      make: (text) => plant(fault, text),
    }));
}

/** Of each kind the one in the middle. */
function listMutants(): Change[] {
  const { document } = readContract("openapi");
  const mutants = makeMutants(document, findConstraints(document));
  const kinds = [...Map.groupBy(mutants, ({ kind }) => kind).values()];
  return kinds
    .flatMap((ofKind) => ofKind[Math.floor(ofKind.length / 2)] ?? [])
    .map((mutant) => ({
      kind: "mutants",
      name: mutant.name,
      file: CONTRACT,
      make: () => JSON.stringify(mutant.apply(document), null, 2),
    }));
}

function printTable(table: Table): void {
  for (const [kind, rows] of Object.entries(table)) {
    const caught = Object.values(rows).map((projects) => projects.split(", "));
    process.stdout.write(`${caught.length} ${kind}\n`);
    for (const project of PROJECTS) {
      const all = caught.filter((projects) => projects.includes(project));
      const alone = all.filter(({ length }) => length === 1);
      process.stdout.write(`  ${project} catches ${all.length}, ${alone.length} of them alone\n`);
    }
  }
}
