import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { callsOf } from "../../../scripts/docs/reference/calls.ts";
import { type Sample, samplesOf } from "../../../scripts/docs/reference/samples.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";
import { createProjectFolder, type ProjectFolder } from "./helpers/project-folder.ts";

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

/** Runs a sample as printed, but against the test's own sandbox. */
async function run({ label, source }: Sample): Promise<string> {
  const { file, command } = RUN[label] ?? { file: label, command: [] };
  const here = source.replaceAll("http://127.0.0.1:3000", server.url);
  expect(here).not.toBe(source);
  await writeFile(join(project.folder, file), here);
  return project.run(...command, file);
}

describe.each(callsOf(readContract("openapi").document))("the sample of $operationId", (call) => {
  const { statuses } = readContract("openapi").operation(call.operationId);

  test.each(samplesOf(call).filter(({ label }) => label in RUN))(
    "in $label succeeds, and prints the response",
    async (sample) => {
      await reset();
      const printed = await run(sample);

      expect(printed).toMatch(new RegExp(`\\b${statuses[0]}\\b`));
      expect(printed).toMatch(
        call.operationId === "issueRefund" ? /paymentStatus\W+AUTHORIZED/ : /subscriptionKey\W+sub_/,
      );
    },
  );
});

describe("the samples of the sandbox's own calls", () => {
  const calls = callsOf(readContract("sandbox").document);

  test.each(["curl", "fetch", "Python"])(
    "in %s succeed one after the other, from a fresh sandbox on, and print it",
    async (label) => {
      await reset();
      const wrong: string[] = [];
      for (const call of calls) {
        const [status] = readContract("sandbox").operation(call.operationId).statuses;
        const sample = samplesOf(call).find((one) => one.label === label);
        const printed = sample && (await run(sample));
        if (!printed?.match(new RegExp(`^(HTTP/1\\.1 )?${status} `)))
          wrong.push(`${call.operationId}: ${printed}`);
      }

      expect(wrong).toEqual([]);
      expect(calls).toHaveLength(34);
    },
  );
});
