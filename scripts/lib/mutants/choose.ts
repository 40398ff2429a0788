import type { Mutant } from "./mutant.ts";

/** Every `step`-th mutant of each kind, and of every kind at least one. */
export function sample(mutants: readonly Mutant[], step: number): Mutant[] {
  const kinds = Map.groupBy(mutants, ({ kind }) => kind);
  const chosen = new Set(
    [...kinds.values()].flatMap((list) => list.filter((_mutant, index) => index % step === 0)),
  );
  return mutants.filter((mutant) => chosen.has(mutant));
}
