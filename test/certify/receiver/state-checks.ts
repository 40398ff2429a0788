/** The exam's checks that a receiver stores the right status, whatever the order and number of the events, and after a restart. */
import { setTimeout as pause } from "node:timers/promises";
import { defineGroup, given } from "../../reporting/check.ts";
import { CheckFailure, NotRun } from "../../reporting/exchange.ts";
import { type Answer, askState, askUntil, describeAnswer, type Status } from "../ask-state.ts";
import type { ReceiverOptions } from "../options.ts";
import { newRefund, type RefundEvent, refundEvent } from "./example-events.ts";
import { expectTaken, newWebhookId, type ReceiverKit } from "./kit.ts";

const ON_RULES = "receiving-webhooks.md#rules-for-handlers";

/** The pause before an event is sent again to a receiver that is restarting, in milliseconds. */
const RETRY_MS = 200;
const RESTART_LIMIT_MS = 60_000;
const EVENTS_BEFORE_RESTART = 5;
/** How many equal deliveries come at once, and for how many refunds: a race is lost only now and then. */
const [AT_ONCE, AT_ONCE_ROUNDS] = [8, 3];

const STATE = given<ReceiverOptions>("state");
/** So that a system that stores nothing fails this check, and not all of them. */
const STORED = { after: ["state.stored"] };
const WITH_STATE = { preconditions: [STATE], guide: ON_RULES, ...STORED };
const RESTART = { preconditions: [given<ReceiverOptions>("restart"), STATE], ...STORED };

/** Makes up a refund, and functions that send its events and expect what the system then knows of it. */
async function createRefund(kit: ReceiverKit) {
  const { options, send, contract } = kit;
  const refund = newRefund();
  const prepared = await options.prepare?.(refund);
  if (prepared?.problem) throw new CheckFailure("--prepare to succeed", { received: prepared.problem });
  const fail = (expected: string, text: string) => {
    throw new CheckFailure(expected, { received: text });
  };
  /** Fails when the system has accepted an event, and knows nothing of its refund afterwards. */
  const expectKnown = async () => {
    const answer = await askUntil(options, refund, ({ status }) => status !== undefined);
    const hint = options.prepare ? "" : "; if it ignores refunds that it has not issued, give --prepare";
    const expected =
      "that your system stores what it accepts: you responded 204 and the refund is unknown afterwards";
    if (answer.status === undefined) fail(expected + hint, describeAnswer(answer));
  };
  let sentAt = performance.now();
  return {
    refund,
    /** Sends an event so many times at once. Resolves with a function that sends it again. */
    async sendEvent(type: RefundEvent, times = 1) {
      const delivery = { event: refundEvent(contract, type, { refund }), webhookId: newWebhookId() };
      const deliver = async () => expectTaken(await send(delivery), "the event is valid");
      await Promise.all(Array.from({ length: times }, deliver));
      sentAt = performance.now();
      return deliver;
    },
    expectKnown,
    /** Fails unless the system comes to believe this, within `--settle`. */
    async expectStatus(status: Status, because: string) {
      await expectKnown();
      const answer = await askUntil(options, refund, (answer) => answer.status === status);
      if (answer.status !== status)
        fail(`that your system believes ${status}, because ${because}`, describeAnswer(answer));
    },
    /** Fails if an event changes what the system believes. Without `isSame`, the whole texts are compared. */
    async expectSame(
      sendEvent: () => Promise<unknown>,
      because: string,
      isSame = (before: Answer, after: Answer) => before.text === after.text,
    ) {
      await pause(Math.max(0, sentAt + options.settleMs - performance.now())); // it may still work on the events before
      const before = await askState(options, refund);
      await sendEvent();
      const after = await askUntil(options, refund, (answer) => !isSame(before, answer));
      if (!isSame(before, after))
        fail(`that --state still prints ${before.text}, because ${because}`, describeAnswer(after));
    },
  };
}

export const stateChecks = [
  ...defineGroup<ReceiverOptions, ReceiverKit>("What the system believes", WITH_STATE, [
    {
      id: "state.stored",
      name: "knows a refund after an event of it",
      sources: ["D23", "10.2"],
      guide: "receiving-webhooks.md#what-a-delivery-is",
      async run(kit) {
        const { sendEvent, expectKnown } = await createRefund(kit);
        await sendEvent("refund.authorized");
        await expectKnown();
      },
    },
    {
      id: "state.pending",
      name: "does not take a waiting refund for a final success",
      sources: ["6.3", "6.6"],
      guide: "refunds-step-by-step.md#5-follow-the-refund",
      async run(kit) {
        const { sendEvent, expectStatus } = await createRefund(kit);
        await sendEvent("refund.pending");
        await expectStatus("PENDING", "the refund waits");
        await sendEvent("refund.authorized");
        await expectStatus("AUTHORIZED", "the wait is over");
      },
    },
    {
      id: "state.failed-later",
      after: ["state.pending"],
      name: "notices that a refund fails after it was authorized",
      sources: ["6.7", "D17"],
      guide: "refunds-step-by-step.md#5-follow-the-refund",
      async run(kit) {
        const { sendEvent, expectStatus } = await createRefund(kit);
        await sendEvent("refund.authorized");
        await expectStatus("AUTHORIZED", "money is moving");
        await sendEvent("refund.terminal_failed");
        await expectStatus("TERMINAL_FAILED", "a refund can fail at any time");
      },
    },
    {
      id: "state.repeated",
      after: ["event.repeated"],
      name: "does nothing when an event comes a second time",
      sources: ["D23", "D26"],
      async run(kit) {
        const { sendEvent, expectStatus, expectSame } = await createRefund(kit);
        const repeat = await sendEvent("refund.authorized");
        await expectStatus("AUTHORIZED", "the event says so");
        await expectSame(repeat, "the delivery is a repeat");
      },
    },
    {
      id: "state.at-once",
      after: ["event.repeated", "state.repeated"],
      cases: ["mollie/WooCommerce#1063"],
      name: "acts once when an event comes several times at the same moment",
      sources: ["D23", "D26"],
      async run(kit) {
        const { options } = kit;
        const texts: string[] = [];
        for (const times of [1, 1, ...Array.from({ length: AT_ONCE_ROUNDS }, () => AT_ONCE)]) {
          const { refund, sendEvent, expectStatus } = await createRefund(kit);
          await sendEvent("refund.authorized", times);
          await expectStatus("AUTHORIZED", "the event says so");
          await pause(options.settleMs);
          texts.push(withoutIds((await askState(options, refund)).text, refund));
        }
        const [once = "", control, ...others] = texts;
        if (once !== control)
          throw new NotRun("--state prints something else for each refund, so two refunds can't be compared");
        const other = others.find((text) => text !== once);
        const expected = `that --state prints ${once} after ${AT_ONCE} equal deliveries as after one`;
        if (other !== undefined) throw new CheckFailure(expected, { received: other });
      },
    },
    {
      id: "state.disorder",
      after: ["state.pending", "state.failed-later", "state.at-once"],
      cases: ["mollie/WooCommerce#1252"],
      name: "keeps the latest status when events come in another order",
      sources: ["D21", "D23"],
      async run(kit) {
        const waited = await createRefund(kit);
        await waited.sendEvent("refund.authorized");
        await waited.expectStatus("AUTHORIZED", "the event says so");
        await waited.expectSame(
          () => waited.sendEvent("refund.pending"),
          "refund.pending has a lower sequence",
        );
        const failed = await createRefund(kit);
        await failed.sendEvent("refund.terminal_failed");
        await failed.expectStatus("TERMINAL_FAILED", "the event says so");
        await failed.expectSame(
          () => failed.sendEvent("refund.authorized"),
          "refund.authorized has a lower sequence",
        );
        for (let round = 0; round < AT_ONCE_ROUNDS; round += 1) {
          const raced = await createRefund(kit);
          await Promise.all([raced.sendEvent("refund.authorized"), raced.sendEvent("refund.pending")]);
          await raced.expectStatus("AUTHORIZED", "both events came at the same moment");
        }
      },
    },
    {
      id: "state.unknown-status",
      after: ["unknown.event", "unknown.status", "state.pending"],
      name: "does not take a status that it does not know for a success or a failure",
      sources: ["D28", "D21"],
      async run(kit) {
        const { refund, sendEvent, expectKnown, expectSame } = await createRefund(kit);
        await sendEvent("refund.pending");
        await expectKnown();
        const event = refundEvent(kit.contract, "refund.authorized", {
          refund,
          data: { paymentStatus: "CERTIFIED" },
        });
        await expectSame(
          () => kit.send({ event: { ...event, type: "refund.certified" } }),
          "no version that you know has the status CERTIFIED",
          (before, { status }) => status === undefined || status === "PENDING" || before.status === status,
        );
      },
    },
    {
      id: "state.forged",
      after: ["signature.forged"],
      name: "believes nothing that a forged event says",
      sources: ["D22", "10.2"],
      async run(kit) {
        const { refund, sendEvent, expectKnown, expectSame } = await createRefund(kit);
        await sendEvent("refund.pending");
        await expectKnown();
        const event = refundEvent(kit.contract, "refund.authorized", { refund });
        await expectSame(
          async () => void (await kit.send({ event, secrets: ["a secret of somebody else"] })),
          "somebody else has signed the event",
        );
      },
    },
  ]),
  ...defineGroup<ReceiverOptions, ReceiverKit>("Restart", RESTART, [
    {
      id: "restart.kept",
      name: "keeps, across a restart, each event that it accepted before or during it",
      sources: ["D23", "D20"],
      guide: "receiving-webhooks.md#what-a-delivery-is",
      async run(kit) {
        const { options } = kit;
        const first = await createRefund(kit);
        await first.sendEvent("refund.pending");
        const repeat = await first.sendEvent("refund.authorized");
        await first.expectStatus("AUTHORIZED", "the event says so");
        kit.beforeRestart = () => first.expectSame(repeat, "it took this delivery before the restart");
        const others = await Promise.all(
          Array.from({ length: 1 + EVENTS_BEFORE_RESTART }, () => createRefund(kit)),
        );
        await first.expectSame(async () => {
          const [last, ...refunds] = others;
          await Promise.all(refunds.map(({ sendEvent }) => sendEvent("refund.authorized")));
          const accepted = sendUntilAccepted(async () => last?.sendEvent("refund.authorized"));
          const [result] = await Promise.all([options.restart?.({}), accepted]);
          if (result?.problem)
            throw new CheckFailure("--restart to restart the receiver", { received: result.problem });
        }, "a restart changes nothing");
        for (const { expectStatus } of others) {
          await expectStatus("AUTHORIZED", "it responded with 2xx to the event, which is not sent again");
        }
      },
    },
    {
      id: "restart.repeated",
      after: ["event.repeated", "state.repeated", "state.disorder", "restart.kept"],
      cases: ["shopperlabs/shopper#582"],
      name: "does nothing when an event from before a restart comes again",
      sources: ["D23", "D26"],
      guide: ON_RULES,
      async run({ beforeRestart }) {
        if (!beforeRestart) throw new NotRun("restart.kept was not run");
        await beforeRestart();
      },
    },
  ]),
];

/** What a system says about a refund, without its ids and without times. */
function withoutIds(text: string, refund: object): string {
  const named = Object.values(refund).reduce(
    (result: string, id) => result.replaceAll(String(id), "…"),
    text,
  );
  return named.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d{9,}/g, "…");
}

/** Sends an event until the receiver accepts it, as the service would at longer intervals. */
async function sendUntilAccepted(sendEvent: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + RESTART_LIMIT_MS; ; await pause(RETRY_MS)) {
    try {
      return void (await sendEvent());
    } catch (error) {
      if (!(error instanceof CheckFailure) || performance.now() > end) throw error;
    }
  }
}
