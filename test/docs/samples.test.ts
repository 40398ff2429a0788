import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { callsOf } from "../../scripts/lib/docs/calls.ts";
import { type Sample, samplesOf } from "../../scripts/lib/docs/samples.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { createWorkshop, type Workshop } from "./workshop.ts";

let server: TestServer;
let workshop: Workshop;
beforeAll(async () => {
  server = await startTestServer();
  workshop = await createWorkshop(server.url);
  return async () => {
    await workshop[Symbol.asyncDispose]();
    await server.close();
  };
});

const RUN: Readonly<Record<Sample["label"], { file: string; command: readonly [string, ...string[]] }>> = {
  curl: { file: "sample.sh", command: ["sh", "-eu"] },
  "Our client": { file: "sample.mjs", command: [process.execPath] },
  fetch: { file: "sample.mjs", command: [process.execPath] },
  Python: { file: "sample.py", command: ["python3"] },
};

/** Runs a sample as it is printed, but against the test's own sandbox, on data as they are at the start. */
async function run({ label, source }: Sample): Promise<string> {
  const headers = { Authorization: "Bearer sandbox_acme" };
  await fetch(`${server.url}/sandbox/reset`, { method: "POST", headers });
  const {
    file,
    command: [program, ...options],
  } = RUN[label];
  const here = source.replaceAll("http://127.0.0.1:3000", server.url);
  expect(here).not.toBe(source);
  await writeFile(join(workshop.folder, file), here);
  return workshop.run(program, ...options, file);
}

describe.each(callsOf(readContract("openapi").document))("the sample of $operationId", (call) => {
  const { statuses } = readContract("openapi").operation(call.operationId);

  test.each(samplesOf(call))("in $label is answered with success, and prints it", async (sample) => {
    const printed = await run(sample);

    expect(printed).toMatch(new RegExp(`\\b${statuses[0]}\\b`));
    expect(printed).toMatch(
      call.operationId === "issueRefund" ? /paymentStatus\W+AUTHORIZED/ : /subscriptionKey\W+sub_/,
    );
  });
});

/** The example of a path's parameter names what a fresh sandbox has not, or has in another state. */
const UNPREPARED: Readonly<Record<string, number>> = {
  settlePayment: 409,
  redeliver: 404,
  endSubscription: 404,
};

describe.each(callsOf(readContract("sandbox").document))("the sample of $operationId", (call) => {
  const { statuses } = readContract("sandbox").operation(call.operationId);

  test("gets its documented answer in each language", async () => {
    const printed: string[] = [];
    for (const sample of samplesOf(call)) printed.push(await run(sample));

    const status = UNPREPARED[call.operationId] ?? statuses[0];
    expect(statuses).toContain(status);
    expect(printed).toHaveLength(3);
    for (const text of printed) expect(text).toMatch(new RegExp(`\\b${status}\\b`));
  });
});
