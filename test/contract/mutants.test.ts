import { rm } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { mutate } from "../../scripts/lib/mutants/command.ts";
import { openLab } from "../../scripts/lib/mutants/lab.ts";
import { runMutants } from "../../scripts/lib/mutants/run.ts";
import { messageTables } from "../../scripts/lib/table/check.ts";
import { requestTable } from "../../scripts/lib/table/table.ts";
import { makeDataDir } from "../helpers/data-dir.ts";

/** More than there are mutants of any kind: one is made of each. */
const ONE_OF_EACH_KIND = "1000";

/** Far more than a hundred mutants take, also on a machine that has other work. */
const PATIENCE_MS = 120_000;

/** A store with tables and no data, for one use. */
async function givenDataDir(): Promise<string> {
  const dataDir = await makeDataDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** The command as it is run, with what it prints. */
async function run(...args: string[]) {
  const printed: string[] = [];
  const code = await mutate(args, { write: (text) => void printed.push(text) }, await givenDataDir());
  return { code, printed: printed.join("") };
}

describe("mutants of the contract", { timeout: PATIENCE_MS }, () => {
  test("of every kind are noticed by the tables, the examples and the rules", async () => {
    const { code, printed } = await run("--sample", ONE_OF_EACH_KIND);

    expect(printed).toMatch(/^mutants made: 1\d\d$/m);
    expect(printed).toMatch(/^survivors: 0$/m);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.not.stringContaining("wrong:") });
  });

  test("that no row of a table notices are named, with the tables that lack the row, and fail the command", async () => {
    const lacking = [
      [
        "/RefundRequest/properties/requestKey/maxLength maxLength tightened",
        "issueRefund: /requestKey has 255",
      ],
      [
        "/Subscription/properties/subscriptionKey/maxLength maxLength loosened",
        "a subscription: /subscriptionKey has 65",
      ],
      ["/EventSequence/minimum minimum loosened", ": /sequence is 0"],
    ];

    const { code, printed } = await run(
      ...lacking.flatMap(([mutant = "", row = ""]) => ["--only", mutant, "--without", row]),
    );

    expect(code).toBe(1);
    expect(printed).toMatch(/^survivors: 3$/m);
    expect(printed.match(/survived: .+\n.+/g)).toEqual([
      "survived: /components/schemas/RefundRequest/properties/requestKey/maxLength maxLength tightened to 254\n    missed by the calls of issueRefund",
      "survived: /components/schemas/Subscription/properties/subscriptionKey/maxLength maxLength loosened to 65\n    missed by the answers of subscribeToWebhooks 200",
      expect.stringContaining(
        "survived: /components/schemas/EventSequence/minimum minimum loosened to 0\n    missed by the deliveries to onRefundPending,",
      ),
    ]);
  });

  test("are not made of a document that the tables find fault with", async () => {
    await using lab = await openLab(await givenDataDir());
    const answers = messageTables.answers.map((row) => ({ ...row, allowed: true }));
    const suite = { calls: requestTable, messages: { ...messageTables, answers } };

    const made = runMutants({ document: readContract("openapi").document, suite, lab });

    await expect(made).rejects.toThrow(/finds fault with the document as it is: answer: /);
  });
});
