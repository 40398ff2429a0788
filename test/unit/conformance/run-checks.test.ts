import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../../helpers/temp-dir.ts";
import type { Check } from "../../reporting/check.ts";
import { CheckFailure } from "../../reporting/exchange.ts";
import { type Choice, runChecks } from "../../reporting/run-checks.ts";
import { writeReports } from "../../reporting/run-command.ts";

const timeout = () => new CheckFailure("a response", { received: "none", timedOut: true });

function checksOf(...runs: (() => void)[]): Check<Choice, undefined>[] {
  const parts = { group: "Group", name: "does it", sources: [], preconditions: [] };
  return runs.map((run, index) => ({ ...parts, id: `check.${index}`, run }));
}

const run = (checks: Check<Choice, undefined>[], options: Partial<Choice> = {}, examined?: string) =>
  runChecks(checks, { options: { only: [], ...options }, tools: undefined, ...(examined && { examined }) });

const fails = (failure: () => CheckFailure) => () => {
  throw failure();
};

test("a failure that several checks share counts as one call without a response", async () => {
  const shared = timeout();

  const { results } = await run(checksOf(...Array(5).fill(fails(() => shared)), () => {}));

  expect(results.at(-1)?.outcome).toBe("passed");
});

test("three calls without a response end the run, and the report names what stopped responding", async () => {
  const { results } = await run(
    checksOf(...Array(3).fill(fails(timeout)), () => {}),
    {},
    "the receiver",
  );

  expect(results.at(-1)).toMatchObject({ outcome: "not run", reason: "the receiver has stopped responding" });
});

test("nothing more is run once the run is stopped, and what is required has then failed", async () => {
  const stop = new AbortController();

  const { results } = await run(
    checksOf(
      () => stop.abort(),
      () => {},
      () => {},
    ),
    { signal: stop.signal, require: ["check.2"] },
  );

  expect(results.map(({ outcome }) => outcome)).toEqual(["passed", "not run", "failed"]);
  expect(results[1]?.reason).toBe("the run was stopped");
});

test("a report that can't be written does not keep the others from being written", async () => {
  const { exitCode } = process;
  onTestFinished(() => {
    process.exitCode = exitCode;
  });
  await using folder = await createTempDir();
  const json = join(folder.path, "report.json");
  const report = { url: "", startedAt: new Date(), seconds: 0, results: [] };

  const written = writeReports(report, {
    "--junit": { file: folder.path, toText: () => "xml" },
    "--json": { file: json, toText: () => "json" },
  });

  await expect(written).rejects.toThrow(/--junit can't be written/);
  expect(await readFile(json, "utf8")).toBe("json");
});
