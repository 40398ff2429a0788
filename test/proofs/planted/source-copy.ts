import { cpSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createVitest, type TestSpecification } from "vitest/node";
import { ROOT } from "../../../scripts/command/root.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";

/** A fault can make tests wait for what never comes. */
const TEST_LIMIT_MS = 120_000;
/** State of the project, and its packages, to which the copy has links. */
const LEFT_OUT = /^(\.git|node_modules|\.data)$/;

/** Stands for an error that belongs to no test file. */
export const OUTSIDE = "an error outside of tests";

/** A copy of the source in which files are changed one at a time, while the tests run there. */
export type SourceCopy = Awaited<ReturnType<typeof openSourceCopy>>;

/** @param options.bail the number of failed tests after which a run ends; 0 for none */
export async function openSourceCopy({ bail = 0 } = {}) {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(await createTempDir());
  await copyTree(folder);
  process.chdir(folder);
  opened.defer(() => process.chdir(ROOT));
  // One instance for all runs, so that the databases are made once.
  const vitest = await createVitest("test", { reporters: [], testTimeout: TEST_LIMIT_MS, bail });
  opened.defer(() => vitest.close());

  /** Does work while the file has another text. */
  const withChange = async <Result>(
    file: string,
    change: (text: string) => string,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const path = join(folder, file);
    const original = await readFile(path, "utf8");
    const write = async (text: string) => {
      await writeFile(path, text);
      vitest.invalidateFile(path);
    };
    await write(change(original));
    return work().finally(() => write(original));
  };

  /** Resolves with the paths of the test files that fail. */
  const failingFiles = async (specifications: TestSpecification[]): Promise<string[]> => {
    const { failed, isWhole } = await run(specifications);
    if (failed.length === 0) return isWhole ? failed : failingFiles(specifications);
    const suspected = specifications.filter(({ moduleId }) =>
      failed.some((path) => moduleId.endsWith(`/${path}`)),
    );
    if (bail === 0 || suspected.length === 0) return failed;
    const confirmed = await run(suspected);
    return confirmed.failed.length > 0 ? confirmed.failed : failingFiles(specifications);
  };

  /**
   * A run that ends at its first failures can cut off the next one, where files that were not run have the results of an earlier run.
   * No test is ever skipped otherwise.
   */
  const run = async (specifications: TestSpecification[]) => {
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, true);
    // The result also has the files of earlier runs.
    const chosen = new Set(specifications.map(({ moduleId }) => moduleId));
    const modules = testModules.filter(({ moduleId }) => chosen.has(moduleId));
    const failed = modules.filter((module) => !module.ok()).map(({ relativeModuleId }) => relativeModuleId);
    if (unhandledErrors.length > 0) failed.push(OUTSIDE);
    const isWhole = modules.every(
      (module) => module.state() === "passed" && module.children.allTests("skipped").next().done,
    );
    return { failed, isWhole };
  };

  const all = opened.move();
  return {
    withChange,
    failingFiles,
    findTests: (filters: readonly string[] = []) => vitest.globTestSpecifications([...filters]),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The working tree as it is; packages are links to the originals, but for our own, which are links into the copy. */
async function copyTree(folder: string): Promise<void> {
  for (const name of await readdir(ROOT)) {
    if (!LEFT_OUT.test(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  const own = "node_modules/@refund-contract";
  await mkdir(join(folder, own), { recursive: true });
  // Caches of tools, whose names begin with a dot, are the copy's own: those of faults must not get into the original's.
  const packages = (await readdir(join(ROOT, "node_modules"))).filter((name) => /^(\.bin$|[^.])/.test(name));
  for (const name of packages) {
    const entry = join("node_modules", name);
    if (entry !== own) await symlink(join(ROOT, entry), join(folder, entry));
  }
  cpSync(join(ROOT, own), join(folder, own), { recursive: true, verbatimSymlinks: true });
}
