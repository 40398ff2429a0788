import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { messageTables } from "../conformance/expected/document-checks.ts";
import { requestTable } from "../conformance/expected/requests.ts";
import { mutate } from "../proofs/mutation/command.ts";
import { openHarness } from "../proofs/mutation/harness.ts";
import { runMutants } from "../proofs/mutation/run-mutants.ts";

/** More than the number of mutants of any kind, so one mutant of each kind is tried. */
const ONE_OF_EACH_KIND = "1000";

/** Far more than a hundred mutants take, even on a busy machine. */
const DEADLINE_MS = 300_000;

/** Runs the command, and returns its output. */
async function run(...args: string[]) {
  const printed: string[] = [];
  const code = await mutate(args, { write: (text) => void printed.push(text) });
  return { code, printed: printed.join("") };
}

describe("mutants of the contract", { timeout: DEADLINE_MS }, () => {
  test("of every kind are noticed by the tables and the rules", async () => {
    const { code, printed } = await run("--sample", ONE_OF_EACH_KIND);

    expect(printed).toMatch(/^mutants made: 9\d$/m);
    expect(printed).toMatch(/^survivors: 0$/m);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.not.stringContaining("wrong:") });
  });

  test("that no row of a table notices are named, and fail the command", async () => {
    const lacking = [
      ["/RefundRequest/properties/requestKey/maxLength maxLength tightened", "issueRefund: /requestKey is"],
      [
        "/Subscription/properties/subscriptionKey/maxLength maxLength loosened",
        "a subscription: /subscriptionKey is",
      ],
      ["/EventSequence/minimum minimum loosened", ": /sequence is"],
    ];

    const { code, printed } = await run(
      ...lacking.flatMap(([mutant = "", row = ""]) => ["--only", mutant, "--without", row]),
    );

    expect(code).toBe(1);
    expect(printed).toMatch(/^survivors: 3$/m);
    expect(printed.match(/survived: .+/g)).toEqual([
      "survived: /components/schemas/RefundRequest/properties/requestKey/maxLength maxLength tightened to 254",
      "survived: /components/schemas/Subscription/properties/subscriptionKey/maxLength maxLength loosened to 65",
      "survived: /components/schemas/EventSequence/minimum minimum loosened to 0",
    ]);
  });

  test("are not made of a document that the tables find errors in", async () => {
    await using harness = await openHarness();
    const responses = messageTables.responses.map((row) => ({ ...row, allowed: true }));
    const suite = { calls: requestTable, messages: { ...messageTables, responses } };

    const made = runMutants({ document: readContract("openapi").document, suite, harness });

    await expect(made).rejects.toThrow(/finds errors in the document as it is: response: /);
  });
});
