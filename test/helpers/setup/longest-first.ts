import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, as measured on two cores. Names of missing files do no harm. */
const LONGEST = [
  "openapi/mutants",
  "scripts/packages/built",
  "scripts/docs/samples",
  "server/process/process",
  "scripts/docs/guides",
  "server/webhooks/crash",
  "server/lifecycle/model",
  "scripts/docs/accessibility",
  "scripts/docs/commands",
  "server/http/unavailable",
  "scripts/docs/page",
  "server/console/views",
  "scripts/docs/content",
  "server/process/npm",
  "server/console/long-lists",
  "openapi/conformance/conform",
  "server/process/start-failures",
  "server/storage/database/limits",
  "server/webhooks/replicas",
];

/**
 * Begins with the files that take longest, so that at the end no worker waits for another one that has begun a long file
 * late. Vitest does so itself where it ran before; CI starts from a fresh clone. Files of one project stay together, because a
 * worker serves one project only.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const byProject = Map.groupBy(sorted, ({ project }) => project.name);
    return [...byProject.values()].flatMap((group) => group.toSorted((a, b) => rankOf(a) - rankOf(b)));
  }
}

/** The position in the list above; files that are not in it come last. */
function rankOf({ moduleId }: TestSpecification): number {
  const index = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return index === -1 ? LONGEST.length : index;
}
