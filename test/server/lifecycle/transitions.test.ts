import { beforeEach, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { REFUND_TRANSITIONS } from "../../../server/domain/refunds.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, eventsOf, type Merchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");

type Transition = { from: string | null; to: string; trigger: string; when: string };

const { components } = readContract("openapi").document as {
  components: { schemas: { RefundStatus: { enum: string[]; "x-transitions": Transition[] } } };
};
const { enum: statuses, "x-transitions": transitions } = components.schemas.RefundStatus;

type Refund = { paymentId: string; paymentStatus: string };

/** A refund of a payment in this state, as it was issued. */
async function issued(acme: Merchant, fields: object): Promise<Refund & { original: string }> {
  const { paymentId: original } = await acme.create(fields);
  return { ...(await acme.issue(refundOf(original))).body, original };
}

const settledNow = { settledAt: NOW };
const settledLongAgo = { settledAt: "2026-11-01T12:00:00Z" };

/** The transitions of a refund in the interface's table; each function resolves with the refund's id. */
const reach: Record<string, (acme: Merchant) => Promise<string>> = {
  "null issue PENDING": async (acme) => (await issued(acme, settledNow)).paymentId,
  "null issue AUTHORIZED": async (acme) => (await issued(acme, settledLongAgo)).paymentId,
  "null issue TERMINAL_FAILED": async (acme) => (await issued(acme, { status: "FAILED" })).paymentId,
  "PENDING time AUTHORIZED": async (acme) => {
    const { paymentId } = await issued(acme, settledNow);
    await acme.sandbox("advanceClock", { body: { businessDays: 3 } });
    return paymentId;
  },
  "PENDING original-failed TERMINAL_FAILED": async (acme) => {
    const { paymentId, original } = await issued(acme, settledNow);
    await acme.sandbox("failPayment", { path: { paymentId: original } });
    return paymentId;
  },
  "PENDING original-covered TERMINAL_FAILED": async (acme) => {
    const { paymentId, original } = await issued(acme, settledNow);
    await acme.sandbox("coverPayment", { path: { paymentId: original } });
    return paymentId;
  },
  "AUTHORIZED original-failed TERMINAL_FAILED": async (acme) => {
    const { paymentId, original } = await issued(acme, settledLongAgo);
    await acme.sandbox("failPayment", { path: { paymentId: original } });
    return paymentId;
  },
  "AUTHORIZED original-covered TERMINAL_FAILED": async (acme) => {
    const { paymentId, original } = await issued(acme, settledLongAgo);
    await acme.sandbox("coverPayment", { path: { paymentId: original } });
    return paymentId;
  },
};

describe("the table of a refund's transitions", () => {
  const server = useTestServer({ realNow: () => NOW });
  beforeEach(async () => {
    await server.database.db.deleteFrom("clock").execute();
  });
  const acme = forEachTest(() => createSandboxMerchant(server));

  /** @decision D17 */
  test("is the same in the contract and in the program", () => {
    const inContract = transitions.map(({ from, trigger, to }) => ({ from, trigger, to }));

    const sorted = (list: readonly object[]) => list.map((one) => JSON.stringify(one)).toSorted();
    const inProgram = REFUND_TRANSITIONS.map(({ from, trigger, to }) => ({ from, trigger, to }));
    expect(sorted(inContract)).toEqual(sorted(inProgram));
  });

  /** @clause 3.2 6.1 @decision D02 D17 */
  test("names the statuses of the contract and no other, and leaves TERMINAL_FAILED by none", () => {
    const named = transitions.flatMap(({ from, to }) => [from, to]).filter((status) => status !== null);

    expect([...new Set(named)].toSorted()).toEqual(statuses.toSorted());
    expect(transitions.filter(({ from }) => from === "TERMINAL_FAILED")).toEqual([]);
  });

  /** @clause 6.3 6.4 6.5 6.6 6.7 @decision D17 D20 */
  describe("is what happens", () => {
    test.each(transitions)("from $from by $trigger to $to", async ({ from, trigger, to }) => {
      const refund = await reach[`${from} ${trigger} ${to}`]?.(acme);

      const record = await acme.get(refund ?? "nobody reached this move");
      const passed = record.history.map((entry) => ("paymentStatus" in entry ? entry.paymentStatus : ""));
      expect(passed).toEqual(from === null ? [to] : [from, to]);
      expect(record).toMatchObject({ status: to, paymentStatus: to });
      const events = await eventsOf(server, record.paymentId);
      expect(events.map(({ type }) => type)).toEqual(
        passed.map((status) => `refund.${status.toLowerCase()}`),
      );
    });
  });
});
