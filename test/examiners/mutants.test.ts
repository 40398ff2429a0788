import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { mutate } from "../proofs/mutation/command.ts";
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

  test("that no row of a table notices are named", async () => {
    const name =
      "/components/schemas/RefundRequest/properties/requestKey/maxLength maxLength tightened to 254";

    const { survivors, killed } = await runMutants({
      document: readContract("openapi").document,
      suite: { derived: [], rows: [], messages: [] },
      harness: { findMismatch: async () => undefined, [Symbol.asyncDispose]: async () => {} },
      choose: (mutants) => mutants.filter((mutant) => mutant.name === name),
    });

    expect({ survivors, killed }).toEqual({ survivors: [name], killed: {} });
  });
});
