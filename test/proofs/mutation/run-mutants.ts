/** Makes all mutants of the contract, and lists those that no test detects. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { type Constraint, findConstraints } from "../../../openapi/document/constraints.ts";
import { locate, type Node } from "../../../openapi/document/document-node.ts";
import { holderOf } from "../../../openapi/document/pointer.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { withTempDir } from "../../../scripts/shared/files.ts";
import { cases } from "../../conformance/cases/headers-and-bodies.ts";
import { type LintReport, lintFiles } from "../../helpers/redocly-lint.ts";
import { deriveCases } from "../../openapi/send-case.ts";
import { mutantsOfConstraints } from "./constraint-mutants.ts";
import { detect, type Notice } from "./detect-mutant.ts";
import { mutantsOfDocument } from "./document-mutants.ts";
import { EQUIVALENTS } from "./equivalents.ts";
import { openHarness } from "./harness.ts";
import { deriveMessages } from "./messages.ts";
import type { Mutant } from "./mutant.ts";

export type MutationReport = {
  readonly mutants: number;
  /** How many mutants each part of the suite detected first. */
  readonly killed: Readonly<Record<string, number>>;
  /** How many mean the same as the document, and were not detected. */
  readonly equivalents: number;
  /** The names of those that nothing detected. */
  readonly survivors: readonly string[];
  /** Mutants that are in the list of equivalents and were detected. */
  readonly errors: readonly string[];
  /** The reasons of the equivalents that occur. */
  readonly reasons: readonly string[];
};

/** Which mutants to make: those whose names hold one of the texts, all when there is none; and of these one of two halves. */
export type Choice = { readonly only: readonly string[]; readonly half: number };

/**
 * Creates mutants of a document, and lists those that the kit's requests, the messages and the lint rules do not detect. Rejects when
 * these report errors in the document itself.
 */
async function runMutants(document: Node, { only, half }: Choice): Promise<MutationReport> {
  const constraints = findConstraints(document);
  const named = makeMutants(document, constraints).filter(
    ({ name }) => only.length === 0 || only.some((text) => name.includes(text)),
  );
  const mutants = named.filter((_mutant, index) => index % 2 === half);
  await using harness = await openHarness();
  const suite = { derived: deriveCases(document), cases, messages: deriveMessages(document) };
  const given = { suite, harness, document, constraints };
  const itself: Mutant = { kind: "none", pointer: "", name: "the document itself", apply: (same) => same };
  const notices = new Map<Mutant, Notice | undefined>([[itself, undefined]]);
  for (const mutant of [itself, ...mutants]) notices.set(mutant, await detect(mutant, given));
  const left = [...notices.keys()].filter((mutant) => !notices.get(mutant));
  const linted = await lintDocuments(left.map((mutant) => mutant.apply(document)));
  for (const [index, mutant] of left.entries()) notices.set(mutant, linted[index]);
  const wrong = notices.get(itself);
  // Then every mutant would be reported, and prove nothing.
  if (wrong) throw new Error(`the suite finds errors in the document as it is: ${wrong.what}`);
  notices.delete(itself);
  return countVerdicts(notices, document);
}

/** Every mutant of a document, in the order of its parts. Throws when two would have one name. */
function makeMutants(document: Node, constraints: readonly Constraint[]): Mutant[] {
  const mutants = [...mutantsOfConstraints(constraints), ...mutantsOfDocument(document, constraints)];
  const names = new Set(mutants.map(({ name }) => name));
  if (names.size < mutants.length) throw new Error("two mutants have one name");
  return mutants;
}

const OPTIONS = ["--config", "redocly.yaml", "--max-problems=1"];

/** The first error of the project's lint rules in each document; undefined for a document without errors. */
function lintDocuments(documents: readonly Node[]): Promise<(Notice | undefined)[]> {
  return withTempDir(async (folder) => {
    const files = documents.map((_document, index) => join(folder, `${index}.json`));
    for (const [index, file] of files.entries()) await writeFile(file, JSON.stringify(documents[index]));
    const reports: LintReport[] = [];
    // All at once would take longer than a program may on a busy machine.
    for (let done = 0; done < files.length; done += 20)
      reports.push(...(await lintFiles(files.slice(done, done + 20), OPTIONS)));
    return reports.map(
      ({ problems: [problem] }) => problem && { by: "lint", what: `${problem.ruleId}: ${problem.message}` },
    );
  });
}

function countVerdicts(notices: ReadonlyMap<Mutant, Notice | undefined>, document: Node): MutationReport {
  const killed: Record<string, number> = {};
  const [survivors, errors]: [string[], string[]] = [[], []];
  const reasons = new Set<string>();
  let equivalents = 0;
  for (const [mutant, found] of notices) {
    const holder = locate(document, holderOf(mutant.pointer))[1];
    const equivalent = EQUIVALENTS.find((candidate) => candidate.matches(mutant, holder));
    if (equivalent) reasons.add(equivalent.reason);
    if (found) killed[found.by] = (killed[found.by] ?? 0) + 1;
    else if (equivalent) equivalents += 1;
    else survivors.push(mutant.name);
    // The linter checks style, so it may report mutants that change no request and no response.
    if (found && found.by !== "lint" && equivalent)
      errors.push(`listed as equivalent, and noticed: ${mutant.name}: ${found.what}`);
  }
  return { mutants: notices.size, killed, equivalents, survivors, errors, reasons: [...reasons] };
}

parentPort?.postMessage(await runMutants(readContract("openapi").document, workerData));
