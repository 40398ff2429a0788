import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { callsOf } from "../../scripts/docs/reference/calls.ts";
import { type Sample, samplesOf } from "../../scripts/docs/reference/samples.ts";
import { startTestServer } from "../helpers/server.ts";
import { createProjectFolder } from "./project-folder.ts";

/** Every call of the docs, with the status of its success; first those that merchants make in production. */
const CALLS = [readContract("openapi"), readContract("sandbox")].flatMap((contract) =>
  callsOf(contract.document).map((call) => ({
    call,
    status: contract.operation(call.operationId).statuses[0],
  })),
);

/** Between the outputs of two samples. */
const SEPARATOR = "--- the next sample ---";
const WITH_NODE = [
  ...[process.execPath, "--input-type=module", "--eval"],
  `for (const file of process.argv.slice(1)) { await import("./" + file); console.log("${SEPARATOR}"); }`,
];

/**
 * Runs the files that follow in one process for each language, because most of a sample's time is the start of a process. Those in
 * other languages need toolchains: npm run proof -- samples.
 */
const LANGUAGES: readonly [
  label: Sample["label"],
  count: number,
  ending: string,
  command: readonly string[],
][] = [
  ["curl", 36, "sh", ["sh", "-euc", `for file; do (. "./$file"); echo; echo "${SEPARATOR}"; done`, "sh"]],
  ["Our client", 2, "mjs", WITH_NODE],
  ["fetch", 30, "mjs", WITH_NODE],
  [
    "Python",
    30,
    "py",
    [
      ...["python3", "-uc"],
      `import runpy, sys\nfor file in sys.argv[1:]:\n  runpy.run_path(file, run_name="__main__")\n  print("${SEPARATOR}")`,
    ],
  ],
];

test.each(LANGUAGES)(
  "the samples in %s, %d of them, succeed one after the other from a fresh sandbox on, and print the response",
  async (label, count, ending, command) => {
    await using server = await startTestServer();
    await using project = await createProjectFolder(server.url);
    // The calls before a call are in the sample for curl alone.
    const chosen = CALLS.flatMap(({ call, status }) => {
      const sample = samplesOf(call).find((one) => one.label === label);
      return sample && (label === "curl" || !call.before) ? [{ ...call, status, source: sample.source }] : [];
    });
    const files = chosen.map((_, index) => `${index}.${ending}`);
    for (const [index, { source }] of chosen.entries()) {
      const here = source.replaceAll("http://127.0.0.1:3000", server.url);
      expect(here).not.toBe(source);
      await writeFile(join(project.folder, files[index] ?? ""), here);
    }

    const printed = (await project.run(...command, ...files)).split(SEPARATOR).map((text) => text.trim());

    const wrong = chosen.flatMap(({ operationId, status }, index) => {
      const isRight = new RegExp(`^(HTTP/1\\.1 )?${status}( |$)`).test(printed[index] ?? "");
      return isRight ? [] : [`${operationId}: ${printed[index]}`];
    });
    expect(wrong).toEqual([]);
    expect(printed).toHaveLength(count + 1);
    expect(printed[0]).toMatch(/paymentStatus\W+AUTHORIZED/);
    expect(printed[1]).toMatch(/subscriptionKey\W+sub_/);
  },
);
