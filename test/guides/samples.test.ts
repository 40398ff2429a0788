import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { callsOf } from "../../scripts/docs/reference/calls.ts";
import { type Sample, samplesOf } from "../../scripts/docs/reference/samples.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { createProjectFolder, type ProjectFolder } from "./project-folder.ts";

let server: TestServer;
let project: ProjectFolder;
beforeAll(async () => {
  server = await startTestServer();
  project = await createProjectFolder(server.url);
  return async () => {
    await project[Symbol.asyncDispose]();
    await server.close();
  };
});

/** Those in other languages need toolchains: npm run proof -- samples. */
const RUN: Readonly<Partial<Record<Sample["label"], { file: string; command: readonly string[] }>>> = {
  curl: { file: "sample.sh", command: ["sh", "-eu"] },
  "Our client": { file: "sample.mjs", command: [process.execPath] },
  fetch: { file: "sample.mjs", command: [process.execPath] },
  Python: { file: "sample.py", command: ["python3"] },
};

/** Restores the data of the start. */
async function reset(): Promise<void> {
  const headers = { Authorization: "Bearer sandbox_acme" };
  await fetch(`${server.url}/sandbox/reset`, { method: "POST", headers });
}

/** Writes a sample as printed, but against the test's own sandbox, and returns the name of its file. */
async function write({ label, source }: Sample, prefix = ""): Promise<string> {
  const file = prefix + (RUN[label]?.file ?? label);
  const here = source.replaceAll("http://127.0.0.1:3000", server.url);
  expect(here).not.toBe(source);
  await writeFile(join(project.folder, file), here);
  return file;
}

describe.each(callsOf(readContract("openapi").document))("the sample of $operationId", (call) => {
  const { statuses } = readContract("openapi").operation(call.operationId);

  test.each(samplesOf(call).filter(({ label }) => label in RUN))(
    "in $label succeeds, and prints the response",
    async (sample) => {
      await reset();
      const printed = await project.run(...(RUN[sample.label]?.command ?? []), await write(sample));

      expect(printed).toMatch(new RegExp(`\\b${statuses[0]}\\b`));
      expect(printed).toMatch(
        call.operationId === "issueRefund" ? /paymentStatus\W+AUTHORIZED/ : /subscriptionKey\W+sub_/,
      );
    },
  );
});

/** Between the outputs of two samples. */
const SEPARATOR = "--- the next sample ---";

/** Runs the files that follow in one process for each language, because most of a sample's time is the start of a process. */
const RUN_ALL: readonly [label: Sample["label"], ...command: string[]][] = [
  ["curl", "sh", "-euc", `for file; do (. "./$file"); echo; echo "${SEPARATOR}"; done`, "sh"],
  [
    "fetch",
    process.execPath,
    "--input-type=module",
    "--eval",
    `for (const file of process.argv.slice(1)) { await import("./" + file); console.log("${SEPARATOR}"); }`,
  ],
  [
    "Python",
    "python3",
    "-uc",
    `import runpy, sys\nfor file in sys.argv[1:]:\n  runpy.run_path(file, run_name="__main__")\n  print("${SEPARATOR}")`,
  ],
];

describe("the samples of the sandbox's own calls", () => {
  const all = callsOf(readContract("sandbox").document);

  test.each(RUN_ALL)(
    "in %s succeed one after the other, from a fresh sandbox on, and print it",
    async (label, ...command) => {
      // The calls before a call are in the sample for curl alone.
      const calls = all.filter(({ before }) => label === "curl" || !before);
      await reset();
      const files: string[] = [];
      for (const [index, call] of calls.entries()) {
        const sample = samplesOf(call).find((one) => one.label === label);
        if (sample) files.push(await write(sample, `${index}-`));
      }

      const printed = (await project.run(...command, ...files)).split(SEPARATOR).map((text) => text.trim());

      const wrong = calls.flatMap(({ operationId }, index) => {
        const [status] = readContract("sandbox").operation(operationId).statuses;
        const isRight = new RegExp(`^(HTTP/1\\.1 )?${status}( |$)`).test(printed[index] ?? "");
        return isRight ? [] : [`${operationId}: ${printed[index]}`];
      });
      expect(wrong).toEqual([]);
      expect(printed).toHaveLength((label === "curl" ? 34 : 28) + 1);
    },
  );
});
