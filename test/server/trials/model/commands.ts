/** Random commands (create a payment, issue a refund, move the clock), each run on the model and on the servers. */
import type fc from "fast-check";
import { expect } from "vitest";
import { plusBusinessDays } from "../../../../server/domain/business-days.ts";
import { type Duplicate, dollars, type Refund } from "../../../helpers/factories.ts";
import type { Debit } from "../../../helpers/sandbox.ts";
import {
  advanceTo,
  dueTimesOf,
  firstStatus,
  leftOf,
  type Model,
  type ModelRecord,
  paymentsOf,
  refundsOf,
  TRANSITIONS,
  transitionOriginal,
} from "./model.ts";
import { expectAgreement, type Real } from "./real-servers.ts";

export type Command = fc.AsyncCommand<Model, Real>;

const HOUR_MS = 3_600_000;

/** A command that can always run, and after which model and servers agree on everything. */
function command(label: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => label,
    async run(model, real) {
      real.commands += 1;
      await run(model, real);
      await expectAgreement(model, real);
    },
  };
}

function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % items.length];
}

/** The next key that is unused, or one that is used if there is any. */
function keyFor(model: Model, reuse: number | null): { key: string; holder: ModelRecord | undefined } {
  const holders = model.records.filter(({ key }) => key !== null);
  const holder = reuse === null ? undefined : pick(holders, reuse);
  return { key: holder?.key ?? `key-${model.keysUsed + 1}`, holder };
}

type NewPayment = { cents: number; hoursAgo: number | null; keyed: boolean; reuse: number | null };

/** Creates an original payment, settled some hours ago, or with null one that is processing. */
export function createPayment({ cents, hoursAgo, keyed, reuse }: NewPayment): Command {
  return command(`create ${cents} ${hoursAgo}h ${keyed ? `key ${reuse}` : ""}`, async (model, real) => {
    const { key, holder } = keyed ? keyFor(model, reuse) : { key: null, holder: undefined };
    const settledAt = hoursAgo === null ? null : model.now - hoursAgo * HOUR_MS;
    const body = {
      amount: dollars(cents / 100),
      ...(settledAt === null ? { status: "PROCESSING" } : { settledAt: new Date(settledAt) }),
      ...(key !== null && { requestKey: key }),
    };
    const response = await real.merchant().sandbox("createPayment", { body });
    if (holder) return expectDuplicate(response, holder);

    const status = settledAt === null ? "PROCESSING" : "SETTLED";
    expect(response).toMatchObject({ status: 201, body: { status } });
    const id = (response.body as Debit).paymentId;
    const history = [{ status, at: model.now } as const];
    model.records.push({ kind: "DEBIT", id, cents, key, status, settledAt, history });
    if (key !== null) model.keysUsed += 1;
  });
}

type NewRefund = {
  of: number;
  ofRefund: boolean;
  /** Cents, or the difference to the rest of the payment. */
  amount: { cents: number } | { beyondLeft: number };
  reference: string | null;
  reuse: number | null;
};

const LARGEST_CENTS = 9_999_999_999_99;

/** The nearest valid amount (D13). */
function clamp(cents: number): number {
  return Math.min(Math.max(1, cents), LARGEST_CENTS);
}

/** Issues a refund of a payment, or of another refund by mistake. */
export function issueRefund({ of, ofRefund, amount, reference, reuse }: NewRefund): Command {
  const label = `refund ${JSON.stringify({ of, ofRefund, amount, reference, reuse })}`;
  return command(label, async (model, real) => {
    const candidates = ofRefund && refundsOf(model).length > 0 ? refundsOf(model) : paymentsOf(model);
    const original = pick<ModelRecord>(candidates, of);
    if (!original) return;
    const left = original.kind === "DEBIT" ? leftOf(model, original) : original.cents;
    const cents = "cents" in amount ? amount.cents : clamp(left + amount.beyondLeft);
    const { key, holder } = keyFor(model, reuse);
    const body = {
      paymentId: original.id,
      amount: dollars(cents / 100),
      requestKey: key,
      ...(reference !== null && { clientReferenceId: reference }),
    };
    const response = await real.merchant().issue<Refund | Duplicate>(body);
    if (holder) return expectDuplicate(response, holder);

    const { status, errorCode } = firstStatus(model, original, cents);
    expect(response).toMatchObject({
      status: 201,
      body: {
        paymentStatus: status,
        clientReferenceId: reference,
        ...(errorCode !== null && { errorDetails: { errorCode } }),
      },
    });
    const { paymentId: id } = response.body as Refund;
    const history = [{ status, at: model.now }];
    const refund = { kind: "REFUND", id, originalId: original.id, cents, key, reference } as const;
    model.records.push({ ...refund, status, errorCode, history });
    model.keysUsed += 1;
  });
}

/** The response to a used key contains the record that has it, in its present state (D09). */
function expectDuplicate(response: { status: number; body: unknown }, holder: ModelRecord): void {
  expect(response.status).toBe(409);
  const { existing } = response.body as Duplicate;
  if (holder.kind === "DEBIT") {
    expect(existing).toEqual({ paymentId: holder.id });
    return;
  }
  const { errorDetails, ...rest } = existing;
  expect(rest).toEqual({
    paymentId: holder.id,
    paymentStatus: holder.status,
    clientReferenceId: holder.reference,
    originalPaymentId: holder.originalId,
    amount: dollars(holder.cents / 100),
  });
  expect(errorDetails?.errorCode ?? null).toBe(holder.errorCode);
}

/** A refund of a payment that does not exist uses up no key: the next new refund has the same. */
export function refundUnknown(): Command {
  return command("refund unknown", async (model, real) => {
    const { key } = keyFor(model, null);
    const body = { paymentId: "pay_unknown", amount: dollars(1), requestKey: key };

    expect(await real.merchant().issue(body)).toMatchObject({ status: 404 });
  });
}

const CALLS = { SETTLED: "settlePayment", FAILED: "failPayment", COVERED: "coverPayment" } as const;

/** Changes the status of an original payment, or tries to. */
export function changePayment(of: number, to: keyof typeof CALLS, hoursAgo: number): Command {
  return command(`${CALLS[to]} ${of} ${hoursAgo}h`, async (model, real) => {
    const payment = pick(paymentsOf(model), of);
    if (!payment) return;
    const settledAt = model.now - hoursAgo * HOUR_MS;
    const body = to === "SETTLED" ? { body: { settledAt: new Date(settledAt) } } : {};
    const { sandbox } = real.merchant();
    const response = await sandbox(CALLS[to], { path: { paymentId: payment.id }, ...body });

    if (!TRANSITIONS[payment.status].includes(to)) {
      expect(response).toMatchObject({
        status: 409,
        body: { errorDetails: { errorCode: "IMPOSSIBLE_MOVE" } },
      });
      return;
    }
    expect(response).toMatchObject({ status: 200, body: { status: to } });
    transitionOriginal(model, payment, to, settledAt);
    // A refund that is due by this is authorized within seconds; an advance by nothing does not wait for them.
    if (to === "SETTLED") await advance(model, real, { by: "PT0S" }, model.now);
  });
}

export function advanceByHours(hours: number): Command {
  return command(`advance ${hours}h`, (model, real) =>
    advance(model, real, { by: `PT${hours}H` }, model.now + hours * HOUR_MS),
  );
}

export function advanceByBusinessDays(count: number): Command {
  return command(`advance ${count} business days`, (model, real) =>
    advance(model, real, { businessDays: count }, plusBusinessDays(new Date(model.now), count).getTime()),
  );
}

/** To the millisecond at which the next refund is due, or to the one before. */
export function advanceToNextDue(before: boolean): Command {
  return command(`advance to next due${before ? " but one ms" : ""}`, async (model, real) => {
    const [due] = dueTimesOf(model);
    if (due === undefined) return;
    const to = Math.max(model.now, before ? due - 1 : due);
    await advance(model, real, { to: new Date(to) }, to);
  });
}

async function advance(model: Model, real: Real, body: object, now: number): Promise<void> {
  const response = await real.merchant().sandbox("advanceClock", { body });

  expect(response).toMatchObject({ status: 200, body: { now: new Date(now).toISOString() } });
  advanceTo(model, now);
}

/** At most once a run, because it takes as long as a hundred other commands. */
export function restart(): Command {
  const always = command("restart", async (model, real) => {
    model.restarted = true;
    await real.restart();
  });
  return { ...always, check: ({ restarted }) => !restarted };
}
