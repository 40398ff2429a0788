import { nearestId } from "../../openapi/rules/headings.ts";
import { DOCUMENTS, type Heading } from "./headings.ts";
import type { Mark } from "./marks.ts";
import type { SourcedElement } from "./sourced-elements.ts";

export type Traced = {
  readonly headings: readonly Heading[];
  readonly elements: readonly SourcedElement[];
  readonly marks: readonly Mark[];
};

/** Unproven clauses, and proven ones that are marked as untestable; each with its remedy. */
export function findErrors(traced: Traced): string[] {
  return [
    ...findNameErrors(traced),
    ...traced.headings.flatMap((heading) => findHeadingErrors(heading, traced)),
  ];
}

/** Marks and clauses that name unknown clauses or decisions. Elements of the contract that do, the lint rule for sources finds. */
function findNameErrors({ headings, marks }: Traced): string[] {
  const named = [
    ...marks.map(({ kind, id, file, line }) => ({ kind, id, by: `${file}:${line} marks` })),
    ...headings.flatMap(({ id, decided = [] }) =>
      decided.map((other) => ({ kind: "decision" as const, id: other, by: `Clause ${id} names` })),
    ),
  ];
  return named.flatMap(({ kind, id, by }) => {
    const ids = headings.filter((heading) => heading.kind === kind).map((heading) => heading.id);
    if (ids.includes(id)) return [];
    return `${by} ${kind} ${id}, which ${DOCUMENTS[kind].file} does not have: the nearest is ${nearestId(id, ids)}.`;
  });
}

function findHeadingErrors({ kind, id, title, untestable, decided }: Heading, { marks }: Traced): string[] {
  const name = `${kind === "clause" ? "Clause" : "Decision"} ${id} (${title})`;
  const mark = marks.find((one) => one.kind === kind && one.id === id);
  const { file } = DOCUMENTS[kind];
  if (untestable !== undefined && mark) {
    return [`${name} has a test in ${mark.file}: remove its "untestable" comment from ${file}.`];
  }
  if (mark || untestable !== undefined || decided) return [];
  const remedy = `put /** @${kind} ${id} */ above the test that enforces it, and write one if there is none`;
  return [`${name} has no test: ${remedy}. If none can, ${file} says why: <!-- untestable: … -->.`];
}
