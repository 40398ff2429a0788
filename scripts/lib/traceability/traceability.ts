import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { faultsOf } from "./check.ts";
import { DOCUMENTS, type Headings, readHeadings } from "./headings.ts";
import { KINDS, type Marks, readMarks } from "./marks.ts";
import { renderPage } from "./page.ts";
import { readPlaces } from "./places.ts";

/** The generated page, and what keeps it from being a proof; empty when all is proven. */
export type Traceability = { readonly page: string; readonly faults: readonly string[] };

/** Traces every clause and decision of the project in a folder through its contract to its tests. */
export async function traceRequirements(root: string, document: unknown): Promise<Traceability> {
  const [documents, tests] = await Promise.all([
    Promise.all(KINDS.map((kind) => readDocument(root, kind))),
    readTestMarks(root),
  ]);
  const headings = documents.flatMap((one) => one.headings);
  const traced = { headings, places: readPlaces(document), marks: tests.marks };
  const faults = [...documents.flatMap((one) => one.faults), ...tests.faults, ...faultsOf(traced)];
  return { page: renderPage(traced), faults };
}

/** The marks of every test file, in the order of the files' names. */
export async function readTestMarks(root: string): Promise<Marks> {
  const names = await readdir(join(root, "test"), { recursive: true });
  const files = names.filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);
  const read = await Promise.all(
    files.toSorted().map(async (file) => readMarks(file, await readFile(join(root, file), "utf8"))),
  );
  return { marks: read.flatMap(({ marks }) => marks), faults: read.flatMap(({ faults }) => faults) };
}

async function readDocument(root: string, kind: (typeof KINDS)[number]): Promise<Headings> {
  return readHeadings(kind, await readFile(join(root, DOCUMENTS[kind].file), "utf8"));
}
