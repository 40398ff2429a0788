/** The checks of subscriptions that are refused, and of one that is accepted. */
import { type Exchange, NotRun } from "../../reporting/exchange.ts";
import { assert, bodyOf, expectProblem } from "../assertions.ts";
import type { Kit } from "../kit.ts";
import { type Check, defineGroup, WITH_TOKEN } from "../preconditions.ts";
import { subscribe, subscriptionOf } from "../valid-requests.ts";
import { receiverOf } from "../webhook-receiver.ts";
import { casesCheck } from "./request-cases.ts";

/** The examples create the three kinds of subscriptions; these checks cover refusals, and one more subscription. */
export const SUBSCRIPTION_CHECKS: Check[] = defineGroup("Subscriptions", WITH_TOKEN, [
  casesCheck(
    "subscription.bare-string",
    "responds with 400 to a bare text for details, and says to send a list",
    ["4.5", "D03"],
  ),
  casesCheck(
    "subscription.unknown-name",
    "responds with 400 to an unknown event or category, and lists the known ones",
    ["D03", "4.7", "4.8", "D19"],
  ),
  casesCheck(
    "subscription.forbidden-target",
    "responds with 400 to a url that is not for deliveries: other schemes, credentials, inner addresses",
    ["D24", "4.1"],
  ),
  {
    id: "subscription.again",
    name: "responds to equal calls with one subscriptionKey, also when they come at once, or name events in another order",
    sources: ["D26", "5.1", "D03", "8.4"],
    async run(kit) {
      const names = ["refund.terminal_failed", "refund.pending"];
      const subscription = await toNames(kit, names);
      const first = keyIn(await subscribe(kit, subscription));
      const again = await Promise.all(
        [names, names.toReversed(), [...names, ...names]].map((details) =>
          subscribe(kit, { ...subscription, subscriptionDetails: { type: "EVENT", details } }),
        ),
      );
      for (const exchange of again)
        assert(keyIn(exchange) === first, `the subscriptionKey ${first} of the equal subscription`, exchange);
    },
  },
  {
    id: "subscription.another",
    name: "makes another subscription for another secretKey, and for other names",
    sources: ["D26", "5.1"],
    async run(kit) {
      const subscription = await toNames(kit, ["refund.terminal_failed"], 3);
      const secretKey = kit.newSecret();
      const subscriptionDetails = { type: "EVENT", details: ["refund.terminal_failed", "refund.pending"] };
      const keys: unknown[] = [keyIn(await subscribe(kit, subscription))];
      for (const other of [{ secretKey }, { subscriptionDetails }]) {
        const exchange = await subscribe(kit, { ...subscription, ...other });
        const key = keyIn(exchange);
        assert(!keys.includes(key), "a subscriptionKey that no other subscription has", exchange);
        keys.push(key);
      }
    },
  },
]);

/** Ends a check as not run when the merchant already has 100 subscriptions, because then the refusal is right. */
export function refuseFull(status: number, expectLimit: () => void): void {
  if (status !== 409) return;
  expectLimit();
  throw new NotRun(
    "the merchant has 100 subscriptions already; end some, or take another merchant's --token",
  );
}

async function toNames(kit: Kit, details: readonly string[], subscriptions = 1) {
  const receiver = await receiverOf(kit);
  return subscriptionOf(kit, {
    ...(receiver && { url: receiver.endpoint({ accepts: false, subscriptions }).url }),
    subscriptionDetails: { type: "EVENT", details },
  });
}

function keyIn(exchange: Exchange): string {
  refuseFull(exchange.received.status, () => expectProblem(exchange, "SUBSCRIPTION_LIMIT"));
  const { subscriptionKey } = bodyOf(exchange);
  const made = exchange.received.status === 200 && typeof subscriptionKey === "string";
  assert(made, "200 with a subscriptionKey", exchange);
  return String(subscriptionKey);
}
