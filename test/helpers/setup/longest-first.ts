import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest in each project, as measured on two cores. Names of missing files do no harm. */
const LONGEST = [
  "openapi/mutants",
  "openapi/conformance/conform",
  "openapi/fuzz/fuzz",
  "openapi/conformance/planted-faults",
  "server/webhooks/isolation",
  "server/lifecycle/model",
  "server/webhooks/crash",
  "server/webhooks/silent-receivers",
  "server/webhooks/replicas",
  "server/webhooks/slow-receivers",
  "server/storage/database/database",
  "server/lifecycle/restore",
  "server/log/log",
  "server/http/unavailable",
  "server/process/start-failures",
  "server/process/production",
  "server/auth/issuer-keys",
  "server/http/readiness",
  "server/process/process",
  "server/process/npm",
  "scripts/packages/built",
  "client/packed/packed",
  "scripts/docs/accessibility",
  "scripts/docs/guides",
  "scripts/docs/samples",
  "scripts/docs/commands",
  "server/console/views",
  "scripts/docs/content",
  "server/console/long-lists",
  "scripts/docs/page",
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
