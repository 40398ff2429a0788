import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest in each project, as measured on two cores. Names of missing files do no harm. */
const LONGEST = [
  "server/http/unavailable",
  "server/process/crash",
  "server/lifecycle/model",
  "server/process/process",
  "server/process/log",
  "server/process/production",
  "server/http/readiness",
  "server/auth/issuer-keys",
  "server/webhooks/slow-receivers",
  "server/webhooks/isolation",
  "server/webhooks/silent-receivers",
  "server/lifecycle/restore",
  "server/webhooks/replicas",
  "server/storage/database/database",
  "server/process/start-failures",
  "scripts/docs/served",
  "scripts/supply-chain/audit",
  "scripts/packages/built",
  "scripts/packages/client",
  "guides/guides",
  "browser/docs/accessibility",
  "browser/docs/content",
  "browser/docs/try-it",
  "browser/console/live",
  "browser/console/views",
  "examiners/mutants",
  "examiners/certify/mistakes",
  "examiners/conformance/conform",
  "examiners/fuzz",
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
