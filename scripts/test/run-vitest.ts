/** Runs the tests with Vitest's interface, and those of failed files once more when asked. */
import { createVitest, type TestModule, type Vitest } from "vitest/node";

export type TestRun = {
  readonly passed: number;
  /** For each failed test its file, its name and why it failed; also files that did not load, and errors outside of tests. */
  readonly failures: readonly string[];
  /** What failed at first and passed when its file ran again. */
  readonly flaky: string[];
};

/** Runs projects, in Vitest's notation. With `rerun`, files of failed tests run once more, and their second results count. */
export async function runTests(projects: readonly string[], { rerun = false } = {}): Promise<TestRun> {
  const first = await runVitest(projects, []);
  const failedFirst = listFailures(first);
  if (failedFirst.length === 0 || !rerun) return { ...count(first), flaky: [] };

  const failedFiles = first.modules.filter((module) => !module.ok());
  const names = failedFiles.map(({ relativeModuleId }) => relativeModuleId);
  // An error outside of tests belongs to no file, so everything runs again.
  process.stdout.write(`run again: ${names.length > 0 ? names.join(", ") : "all tests"}\n`);
  const { modules, errors } = await runVitest(projects, names);
  const kept = first.modules.filter((one) => !modules.some(({ id }) => id === one.id));
  const counted = count({ modules: [...kept, ...modules], errors });
  const stillFailing = new Set(counted.failures.map(titleOf));
  return { ...counted, flaky: failedFirst.filter((failure) => !stillFailing.has(titleOf(failure))) };
}

type Ended = { readonly modules: readonly TestModule[]; readonly errors: readonly unknown[] };

async function runVitest(project: readonly string[], files: string[]): Promise<Ended> {
  // Set as Vitest's own command sets it, and restored for the programs that run afterwards.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV ??= "test";
  const vitest = await createVitest("test", { project: [...project] });
  const run = await start(vitest, files);
  // Vitest only prints an error of closing, such as that of a set-up's end, and sets the exit code.
  process.exitCode = undefined;
  await vitest.close();
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  if (process.exitCode === undefined) return run;
  return { ...run, errors: [...run.errors, new Error("Vitest could not end the run (see above)")] };
}

async function start(vitest: Vitest, files: string[]): Promise<Ended> {
  try {
    const { testModules, unhandledErrors } = await vitest.start(files);
    return { modules: testModules, errors: unhandledErrors };
  } catch (error) {
    return { modules: [], errors: [error] }; // The set-up of all projects failed.
  }
}

function count({ modules, errors }: Ended): Omit<TestRun, "flaky"> {
  const tests = modules.flatMap(({ relativeModuleId: file, children }) =>
    Array.from(children.allTests(), (test) => ({ file, name: test.fullName, state: test.result().state })),
  );
  const passed = tests.filter(({ state }) => state === "passed").length;
  return { passed, failures: listFailures({ modules, errors }) };
}

function listFailures({ modules, errors }: Ended): string[] {
  const ofTests = modules.flatMap((module) => {
    const file = module.relativeModuleId;
    const failures = Array.from(module.children.allTests("failed"), (test) => {
      return [`${file} > ${test.fullName}`, ...(test.result().errors ?? []).map(reasonOf)].join("\n");
    });
    const loaded = module.ok() || failures.length > 0;
    return loaded ? failures : [`${file}: did not load, or its set-up failed (see above)`];
  });
  return [...ofTests, ...errors.map((error) => `outside of tests:\n${reasonOf(error)}`)];
}

/** The reason, with where it was thrown if that is known. */
function reasonOf(error: unknown): string {
  const { stack, message } = Object(error) as { readonly stack?: string; readonly message?: string };
  return stack ?? message ?? String(error);
}

function titleOf(failure: string): string {
  return failure.split("\n", 1)[0] ?? failure;
}
