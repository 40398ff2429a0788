import type { Node } from "../../../scripts/lib/document/node.ts";
import type { Constraint } from "../constraints/constraint.ts";
import { findConstraints } from "../constraints/find.ts";
import { EQUIVALENTS, holderOf } from "./equivalents.ts";
import type { Harness } from "./harness.ts";
import { lintDocuments } from "./lint.ts";
import { makeMutants } from "./make.ts";
import type { Mutant } from "./mutant.ts";
import { type Notice, notice, type Suite } from "./notice.ts";
import { oneOfEach, reachOf, tablesOf } from "./reach.ts";

/** A mutant that nothing noticed. */
export type Survivor = {
  readonly name: string;
  /** Which tables could have noticed it. */
  readonly missed: readonly string[];
};

export type MutationReport = {
  readonly constraints: number;
  /** Calls of the table that were made to mutated servers and mocks. */
  readonly calls: number;
  readonly mutants: number;
  /** How many each part of the suite noticed first. */
  readonly killed: Readonly<Record<string, number>>;
  /** Those that mean the same as the document, and were noticed by nothing. */
  readonly equivalents: readonly Mutant[];
  readonly survivors: readonly Survivor[];
  /** What is wrong with the list of equivalents, or with the suite itself. */
  readonly errors: readonly string[];
};

export type MutationOptions = {
  readonly document: Node;
  readonly suite: Suite;
  readonly harness: Harness;
  /**
   * Which mutants to make; all when absent. Of some, it is not asked whether every equivalent occurs, and the document itself
   * is tried with one call of each kind.
   */
  readonly choose?: (mutants: readonly Mutant[]) => Mutant[];
  readonly onProgress?: (done: number, mutants: number, survivors: number) => void;
};

/**
 * Makes the mutants of a document, and lists those that the suite does not notice.
 * Rejects when it reports violations in the document itself.
 */
export async function runMutants(options: MutationOptions): Promise<MutationReport> {
  const { document, suite, harness, choose, onProgress = () => {} } = options;
  const constraints = findConstraints(document);
  const all = makeMutants(document, constraints);
  const mutants = choose ? choose(all) : all;
  const trial = choose ? { ...suite, calls: oneOfEach(suite.calls) } : suite;
  await requireGoodDocument(document, { suite: trial, harness, constraints });

  const notices = new Map<Mutant, Notice | undefined>();
  for (const mutant of mutants) {
    notices.set(mutant, await notice(mutant, { suite, harness, document, constraints }));
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
  const verdicts = countVerdicts(mutants, notices, { document, constraints, whole: !choose });
  return { constraints: constraints.length, calls: harness.calls, ...verdicts };
}

/** Were the document itself found wrong, every mutant would be noticed, and nothing shown. */
async function requireGoodDocument(
  document: Node,
  given: { suite: Suite; harness: Harness; constraints: readonly Constraint[] },
): Promise<void> {
  const itself: Mutant = { kind: "none", pointer: "", name: "the document itself", apply: (same) => same };
  const found = await notice(itself, { ...given, document });
  if (found) throw badDocument(found.what);
}

function badDocument(what: string): Error {
  return new Error(`the suite finds errors in the document as it is: ${what}`);
}

function countVerdicts(
  mutants: readonly Mutant[],
  notices: ReadonlyMap<Mutant, Notice | undefined>,
  given: { readonly document: Node; readonly constraints: readonly Constraint[]; readonly whole: boolean },
): Omit<MutationReport, "constraints" | "calls"> {
  const killed: Record<string, number> = {};
  const [equivalents, survivors, errors]: [Mutant[], Survivor[], string[]] = [[], [], []];
  const occurring = new Set<unknown>();
  for (const mutant of mutants) {
    const found = notices.get(mutant);
    const equivalent = EQUIVALENTS.find((one) => one.matches(mutant, holderOf(mutant, given.document)));
    if (equivalent) occurring.add(equivalent);
    if (found) killed[found.by] = (killed[found.by] ?? 0) + 1;
    else if (equivalent) equivalents.push(mutant);
    else survivors.push({ name: mutant.name, missed: tablesOf(reachOf(mutant, given.constraints)) });
    // The lint judges how a document is written, so it may notice what changes no request and no response.
    if (found && found.by !== "lint" && equivalent)
      errors.push(`listed as equivalent, and noticed: ${mutant.name}: ${found.what}`);
  }
  const idle = given.whole ? EQUIVALENTS.filter((equivalent) => !occurring.has(equivalent)) : [];
  errors.push(...idle.map(({ reason }) => `listed as equivalent, and does not occur: ${reason}`));
  return { mutants: mutants.length, killed, equivalents, survivors, errors };
}
