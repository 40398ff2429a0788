import type { Constraint } from "../../../openapi/document/constraints.ts";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import { locate, type Node } from "../../../openapi/document/node.ts";
import { holderOf } from "../../../openapi/document/pointer.ts";
import { EQUIVALENTS } from "./equivalents.ts";
import type { Harness } from "./harness.ts";
import { lintDocuments } from "./lint.ts";
import type { Mutant } from "./mutant.ts";
import { detect, type Notice, type Suite } from "./notice.ts";
import { mutantsOfConstraints } from "./of-constraints.ts";
import { mutantsOfExtensions } from "./of-extensions.ts";
import { mutantsOfMessages } from "./of-messages.ts";
import { mutantsOfSchemas } from "./of-schemas.ts";
import { oneOfEach } from "./reach.ts";

export type MutationReport = {
  readonly mutants: number;
  /** How many mutants each part of the suite detected first. */
  readonly killed: Readonly<Record<string, number>>;
  /** How many mean the same as the document, and were not detected. */
  readonly equivalents: number;
  /** The names of those that nothing detected. */
  readonly survivors: readonly string[];
  /** Errors in the list of equivalents. */
  readonly errors: readonly string[];
};

export type MutationOptions = {
  readonly document: Node;
  readonly suite: Suite;
  readonly harness: Harness;
  /**
   * The mutants to create; all when absent. With a selection, the list of equivalents is not checked for completeness, and
   * the document itself is tested with one call of each kind.
   */
  readonly choose?: (mutants: readonly Mutant[]) => Mutant[];
  readonly onProgress?: (done: number, mutants: number, survivors: number) => void;
};

/**
 * Creates the mutants of a document, and lists those that the suite does not detect. Rejects when the suite reports errors
 * in the document itself.
 */
export async function runMutants(options: MutationOptions): Promise<MutationReport> {
  const { document, suite, harness, choose, onProgress = () => {} } = options;
  const constraints = findConstraints(document);
  const all = makeMutants(document, constraints);
  const mutants = choose ? choose(all) : all;
  const some = { derived: oneOfEach(suite.derived), rows: oneOfEach(suite.rows) };
  const trial = choose ? { ...suite, ...some } : suite;
  await requireGoodDocument(document, { suite: trial, harness, constraints });

  const notices = new Map<Mutant, Notice | undefined>();
  for (const mutant of mutants) {
    notices.set(mutant, await detect(mutant, { suite, harness, document, constraints }));
    onProgress(notices.size, mutants.length, [...notices.values()].filter((found) => !found).length);
  }
  const left = mutants.filter((mutant) => !notices.get(mutant));
  const [ofItself, ...linted] = await lintDocuments([
    document,
    ...left.map((mutant) => mutant.apply(document)),
  ]);
  if (ofItself !== undefined) throw badDocument(ofItself);
  for (const [index, what] of linted.entries()) {
    const mutant = left[index];
    if (mutant && what !== undefined) notices.set(mutant, { by: "lint", what });
  }
  return countVerdicts(notices, document, { whole: !choose });
}

/** Every mutant of a document, in the order of its parts. Throws when two would have one name. */
export function makeMutants(document: Node, constraints: readonly Constraint[]): Mutant[] {
  const mutants = [
    ...mutantsOfConstraints(constraints),
    ...mutantsOfSchemas(document, constraints),
    ...mutantsOfMessages(document),
    ...mutantsOfExtensions(document),
  ];
  const names = new Set<string>();
  for (const { name } of mutants) {
    if (names.has(name)) throw new Error(`two mutants have the name ${name}`);
    names.add(name);
  }
  return mutants;
}

/** If the suite reported errors in the document itself, it would report every mutant, and prove nothing. */
async function requireGoodDocument(
  document: Node,
  given: { suite: Suite; harness: Harness; constraints: readonly Constraint[] },
): Promise<void> {
  const itself: Mutant = { kind: "none", pointer: "", name: "the document itself", apply: (same) => same };
  const notice = await detect(itself, { ...given, document });
  if (notice) throw badDocument(notice.what);
}

function badDocument(what: string): Error {
  return new Error(`the suite finds errors in the document as it is: ${what}`);
}

function countVerdicts(
  notices: ReadonlyMap<Mutant, Notice | undefined>,
  document: Node,
  { whole }: { readonly whole: boolean },
): MutationReport {
  const killed: Record<string, number> = {};
  const [survivors, errors]: [string[], string[]] = [[], []];
  const occurring = new Set<unknown>();
  let equivalents = 0;
  for (const [mutant, found] of notices) {
    const equivalent = EQUIVALENTS.find((one) =>
      one.matches(mutant, locate(document, holderOf(mutant.pointer))[1]),
    );
    if (equivalent) occurring.add(equivalent);
    if (found) killed[found.by] = (killed[found.by] ?? 0) + 1;
    else if (equivalent) equivalents += 1;
    else survivors.push(mutant.name);
    // The linter checks style, so it may report mutants that change no request and no response.
    if (found && found.by !== "lint" && equivalent)
      errors.push(`listed as equivalent, and noticed: ${mutant.name}: ${found.what}`);
  }
  const idle = whole ? EQUIVALENTS.filter((equivalent) => !occurring.has(equivalent)) : [];
  errors.push(...idle.map(({ reason }) => `listed as equivalent, and does not occur: ${reason}`));
  return { mutants: notices.size, killed, equivalents, survivors, errors };
}
