import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findErrors } from "./check.ts";
import { DOCUMENTS, readHeadings } from "./headings.ts";
import { KINDS, type Marks, readMarks } from "./marks.ts";
import { renderPage } from "./page.ts";
import { readSourcedElements } from "./sourced-elements.ts";

/**
 * Traces every clause and decision of the project in a folder through the contract to its tests. Returns the generated page, and
 * the gaps in its proof.
 */
export async function traceRequirements(
  root: string,
  document: unknown,
): Promise<{ page: string; errors: readonly string[] }> {
  const headings = await Promise.all(
    KINDS.map(async (kind) => readHeadings(kind, await readFile(join(root, DOCUMENTS[kind].file), "utf8"))),
  );
  const { marks, errors } = await readTestMarks(root);
  const traced = { headings: headings.flat(), elements: readSourcedElements(document), marks };
  return { page: renderPage(traced), errors: [...errors, ...findErrors(traced)] };
}

/** The marks of every test file, in the order of the files' names. */
export async function readTestMarks(root: string): Promise<Marks> {
  const files = globSync("test/**/*.test.ts", { cwd: root });
  const read = await Promise.all(
    files.toSorted().map(async (file) => readMarks(file, await readFile(join(root, file), "utf8"))),
  );
  return { marks: read.flatMap(({ marks }) => marks), errors: read.flatMap(({ errors }) => errors) };
}
