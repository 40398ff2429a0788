import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, as measured on two cores. A file that is not there any more does no harm. */
const LONGEST = [
  "lifecycle/model",
  "contract/mutants",
  "webhooks/crash",
  "server/process",
  "webhooks/replicas",
  "client/lost-answers",
  "fuzz/fuzz",
  "storage/database",
  "contract/conform",
  "docs/content",
  "contract/statuses",
];

/**
 * Begins with the files that take longest, so that at the end no worker waits for another one that has begun a long file
 * late. Vitest does so itself where it ran before; CI starts from a fresh clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`)) + 1 || Number.POSITIVE_INFINITY;
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => (rankOf(a) === rankOf(b) ? 0 : rankOf(a) - rankOf(b)));
  }
}
