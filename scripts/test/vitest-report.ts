import { readFile, rm, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { ROOT } from "../command/root.ts";
import { runStep } from "../command/steps.ts";

/** The parts of Vitest's JSON report that are read. */
type Report = {
  testResults: TestFile[];
};

type TestFile = {
  name: string;
  status: string;
  assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
};

/** What a run of Vitest came to. */
export type TestRun = {
  passed: number;
  failed: number;
  /**
   * One entry for each failed test: its file, its name and why it failed. One for a run that failed though no test did,
   * because the set-up of all broke, or an error was not caught: the end of what it printed.
   */
  failures: string[];
  /** What failed at first and passed when its file ran again. */
  unsteady: string[];
};

export type TestOptions = {
  /** Whether the files of failed tests run once more, alone; their second results replace the first in the report. */
  readonly rerun?: boolean;
  /** Further arguments for Vitest. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs all tests, or those that `args` choose, and leaves Vitest's report at `reportPath`. */
export async function runTests(reportPath: string, options: TestOptions = {}): Promise<TestRun> {
  const { rerun = false } = options;
  const first = await runVitest(reportPath, [], options);
  if (first.passed || !rerun) return { ...count(first), unsteady: [] };

  const failedFiles = first.report.testResults.filter(({ status }) => status === "failed");
  const names = failedFiles.map(({ name }) => relative(ROOT, name));
  // An error outside of tests belongs to no file, so that everything runs again.
  process.stdout.write(`run again: ${names.length > 0 ? names.join(", ") : "all tests"}\n`);
  const second = await runVitest(reportPath, names, options);
  const merged = replaceResults(first.report, second.report);
  await writeFile(reportPath, JSON.stringify(merged));

  const counted = count({ ...second, report: merged });
  const stillFailing = new Set(counted.failures.map(titleOf));
  const failedFirst = listFailures(first.report);
  const unsteady = failedFirst.filter((failure) => !stillFailing.has(titleOf(failure)));
  if (failedFirst.length === 0 && second.passed) unsteady.push("an error outside of tests (see above)");
  return { ...counted, unsteady };
}

async function runVitest(reportPath: string, files: readonly string[], { args = [], env }: TestOptions) {
  await rm(reportPath, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportPath}`];
  const { passed, output } = await runStep(
    { name: "tests", command: "vitest", args: ["run", ...reporters, ...args, ...files], ...(env && { env }) },
    true,
  );
  return { passed, output, report: await readReport(reportPath) };
}

/** A run that broke off early has left no report. */
async function readReport(path: string): Promise<Report> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return { testResults: [] };
  }
}

type Ended = { passed: boolean; output: string; report: Report };

function count({ passed, output, report }: Ended): Omit<TestRun, "unsteady"> {
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failures = listFailures(report);
  if (!passed && failures.length === 0) failures.push(`outside of tests:\n${output.trimEnd().slice(-4000)}`);
  return {
    passed: results.filter(({ status }) => status === "passed").length,
    failed: failures.length,
    failures,
  };
}

function listFailures({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(ROOT, name);
    const failures = assertionResults
      .filter((result) => result.status === "failed")
      .map(({ fullName, failureMessages }) => [`${file} > ${fullName}`, ...failureMessages].join("\n"));
    const loaded = status !== "failed" || failures.length > 0;
    return loaded ? failures : [`${file}: did not load, or its set-up failed (see above)`];
  });
}

function titleOf(failure: string): string {
  return failure.split("\n", 1)[0] ?? failure;
}

/** The first report, with the files of the second in place of theirs. */
function replaceResults(first: Report, second: Report): Report {
  const repeated = new Map(second.testResults.map((file) => [file.name, file]));
  const kept = first.testResults.filter(({ name }) => !repeated.has(name));
  return { ...first, testResults: [...kept, ...repeated.values()] };
}
