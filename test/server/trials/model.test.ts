/** Runs random commands on a model of refunds and on real servers, and compares both after each command. */
import fc from "fast-check";
import { describe, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import {
  advanceByBusinessDays,
  advanceByHours,
  advanceToNextDue,
  type Command,
  changePayment,
  createPayment,
  issueRefund,
  refundUnknown,
  restart,
} from "./model/commands.ts";
import type { Model } from "./model/model.ts";
import { createReal, type Real } from "./model/real-servers.ts";

/*
 * Random lives of payments and refunds, on the servers and on a small model of the interface's table, compared after every
 * command. A failure prints its seed, with which it runs again:
 *
 * - MODEL_SEED: what the random choices begin with, the same in every run unless another one is given;
 * - MODEL_COMMANDS: how many commands run at least; `npm test -- --whole` runs many more than the default.
 */
const { MODEL_SEED, MODEL_COMMANDS } = process.env;
const COMMANDS = Number(MODEL_COMMANDS ?? 120);
const RUNS_PER_ROUND = 2;

const index = fc.nat(100);
const cents = fc.constantFrom(1, 7, 10_00, 33_33, 100_00, 9_999_999_999_99);
/** Times around the days that a refund waits, with weekends and holidays. */
const hoursAgo = fc.oneof(fc.nat(150), fc.constantFrom(0, 1, 30 * 24));
const reuse = fc.option(index, { freq: 4 });

const newPayment = fc.record({
  cents,
  hoursAgo: fc.option(hoursAgo, { freq: 2 }),
  keyed: fc.boolean(),
  reuse,
});
const newRefund = fc.record({
  of: index,
  ofRefund: fc.integer({ min: 1, max: 10 }).map((chance) => chance === 10),
  amount: fc.oneof(
    fc.record({ cents: fc.constantFrom(1, 7, 10_00, 25_50, 100_00) }),
    fc.record({ beyondLeft: fc.constantFrom(0, 1, -1) }),
  ),
  reference: fc.option(fc.constantFrom("order-1", "órder 2"), { freq: 2 }),
  reuse,
});
const refunds = newRefund.map(issueRefund);
const laterStatus = fc.constantFrom("SETTLED", "FAILED", "COVERED");

const commands = fc.commands(
  [
    newPayment.map(createPayment),
    refunds,
    refunds,
    refunds,
    fc.tuple(index, laterStatus, hoursAgo).map(([of, to, ago]) => changePayment(of, to, ago)),
    fc.nat(100).map(advanceByHours),
    fc.nat(4).map(advanceByBusinessDays),
    fc.boolean().map(advanceToNextDue),
    fc.integer({ min: 1, max: 10 }).map((chance) => (chance === 10 ? restart() : refundUnknown())),
  ],
  { maxCommands: 120, size: "max" },
);

/** The start of a life: any minute of three years. */
const beginning = fc
  .integer({ min: Date.UTC(2026, 0, 1) / 60_000, max: Date.UTC(2029, 0, 1) / 60_000 })
  .map((minutes) => minutes * 60_000);

const SETTLED_LATELY = { cents: 100_00, hoursAgo: 20, keyed: true, reuse: null };
const PROCESSING = { cents: 50_00, hoursAgo: null, keyed: false, reuse: null };

type Life = Iterable<Command>;

async function live(real: Real, begin: number, life: Life): Promise<void> {
  await real.begin(begin);
  const model: Model = { now: begin, records: [], keysUsed: 0, restarted: false };
  await createPayment(SETTLED_LATELY).run(model, real);
  await createPayment(PROCESSING).run(model, real);
  await fc.asyncModelRun(() => ({ model, real }), life);
}

describe.each(engines)("random lives of refunds on %s", (engine) => {
  test("end the same in the servers and in the model", { timeout: 15_000 + 100 * COMMANDS }, async () => {
    const real = await createReal(engine);
    try {
      const property = fc.asyncProperty(beginning, commands, (begin, life) => live(real, begin, life));
      let seed = Number(MODEL_SEED ?? 20_260_101);
      do {
        await fc.assert(property, { seed, numRuns: RUNS_PER_ROUND, interruptAfterTimeLimit: 270_000 });
        seed += 1;
      } while (real.commands < COMMANDS);
    } finally {
      await real.remove();
    }
    process.stdout.write(`${engine}: ${real.commands} random commands agreed\n`);
  });
});
