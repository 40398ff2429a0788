import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { findErrors } from "./check.ts";
import { DOCUMENTS, type Headings, readHeadings } from "./headings.ts";
import { KINDS, type Marks, readMarks } from "./marks.ts";
import { renderPage } from "./page.ts";
import { readSourcedElements } from "./sourced-elements.ts";

/** The generated page, and the gaps in its proof; empty when everything is proven. */
export type Traceability = { readonly page: string; readonly errors: readonly string[] };

/** Traces every clause and decision of the project in a folder through the contract to its tests. */
export async function traceRequirements(root: string, document: unknown): Promise<Traceability> {
  const [documents, tests] = await Promise.all([
    Promise.all(KINDS.map((kind) => readDocument(root, kind))),
    readTestMarks(root),
  ]);
  const headings = documents.flatMap((one) => one.headings);
  const traced = { headings, elements: readSourcedElements(document), marks: tests.marks };
  const errors = [...documents.flatMap((one) => one.errors), ...tests.errors, ...findErrors(traced)];
  return { page: renderPage(traced), errors };
}

/** The marks of every test file, in the order of the files' names. */
export async function readTestMarks(root: string): Promise<Marks> {
  const names = await readdir(join(root, "test"), { recursive: true });
  const files = names.filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);
  const read = await Promise.all(
    files.toSorted().map(async (file) => readMarks(file, await readFile(join(root, file), "utf8"))),
  );
  return { marks: read.flatMap(({ marks }) => marks), errors: read.flatMap(({ errors }) => errors) };
}

async function readDocument(root: string, kind: (typeof KINDS)[number]): Promise<Headings> {
  return readHeadings(kind, await readFile(join(root, DOCUMENTS[kind].file), "utf8"));
}
