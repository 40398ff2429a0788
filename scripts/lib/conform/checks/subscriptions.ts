import { subscribe, subscriptionOf } from "../calls.ts";
import { type Check, defineGroup, NotRun } from "../check.ts";
import { assert, bodyOf, expectProblem, expectViolations, isJson, violationsOf } from "../expect.ts";
import type { Kit } from "../kit.ts";
import { NEEDS } from "../needs.ts";
import { receiverOf } from "../receiver-of.ts";

const DETAILS = "/subscriptionDetails/details";

/** The three kinds of subscriptions are made by the examples; these are about what is refused, and one more. */
export const SUBSCRIPTION_CHECKS: Check[] = defineGroup(
  "Subscriptions",
  [NEEDS.token],
  [
    {
      id: "subscription.bare-string",
      name: "answers 400 to a bare text for details, and says to send a list",
      sources: ["4.5", "D03"],
      async run(kit) {
        for (const [type, details] of [
          ["EVENT", "refund.pending"],
          ["CATEGORY", "PAYMENT"],
          ["ALL", "PAYMENT"],
        ]) {
          const exchange = await subscribe(kit, withDetails(kit, { type, details }));
          const [violation] = violationsOf(expectViolations(exchange, [DETAILS], "a text is no list"));
          assert(
            /list|array/i.test(String(violation?.message)),
            "a message that says to send a list",
            exchange,
          );
        }
      },
    },
    {
      id: "subscription.details-required",
      name: "answers 400 to EVENT and CATEGORY without details",
      sources: ["4.6", "D03"],
      async run(kit) {
        for (const type of ["EVENT", "CATEGORY"]) {
          expectViolations(await subscribe(kit, withDetails(kit, { type })), [DETAILS], "they are required");
          const empty = await subscribe(kit, withDetails(kit, { type, details: [] }));
          expectViolations(empty, [DETAILS], "the list is empty");
        }
      },
    },
    {
      id: "subscription.unknown-name",
      name: "answers 400 to the name of no event or category, and lists those that there are",
      sources: ["D03", "4.7", "4.8", "D19"],
      async run(kit) {
        const known = namesOf(kit);
        for (const [type, names] of Object.entries(known)) {
          const details = [names[0], "refund.done"];
          const exchange = await subscribe(kit, withDetails(kit, { type, details }));
          const [violation] = violationsOf(
            expectViolations(exchange, [`${DETAILS}/1`], "there is no such name"),
          );
          const message = String(violation?.message);
          assert(
            names.every((name) => message.includes(name)),
            `a message that lists ${names.join(", ")}`,
            exchange,
          );
        }
      },
    },
    {
      id: "subscription.unknown-type",
      name: "answers 400 to another type than EVENT, CATEGORY and ALL",
      sources: ["4.4"],
      async run(kit) {
        for (const type of ["SOME", "all", null]) {
          const exchange = await subscribe(kit, withDetails(kit, { type }));
          expectViolations(exchange, ["/subscriptionDetails/type"], "there is no such type");
        }
      },
    },
    {
      id: "subscription.forbidden-target",
      name: "answers 400 to a url that is not for deliveries: other schemes, credentials, inner addresses",
      sources: ["D24", "4.1"],
      async run(kit) {
        for (const url of FORBIDDEN_URLS) {
          const exchange = await subscribe(kit, subscriptionOf(kit, { url }));
          expectViolations(exchange, ["/url"], `${url} is forbidden`);
        }
      },
    },
    {
      id: "subscription.again",
      name: "makes another subscription with a key of its own, also for what is subscribed already; names may repeat",
      sources: ["D26", "5.1", "D03", "8.4"],
      async run(kit) {
        const keys = keysOf(kit);
        const receiver = await receiverOf(kit);
        const subscription = subscriptionOf(kit, {
          ...(receiver && { url: receiver.hook({ wanted: false }).url }),
          subscriptionDetails: {
            type: "EVENT",
            details: ["refund.terminal_failed", "refund.terminal_failed"],
          },
        });
        const exchange = await subscribe(kit, subscription);
        refuseFull(exchange.received.status, () => expectProblem(exchange, "SUBSCRIPTION_LIMIT"));
        const { subscriptionKey } = bodyOf(exchange);
        const made = exchange.received.status === 200 && typeof subscriptionKey === "string";
        assert(made, "200 with a subscriptionKey", exchange);
        assert(!keys.includes(subscriptionKey), "a subscriptionKey that no other subscription has", exchange);
      },
    },
  ],
);

/** None of them is ever delivered to, not even by a sandbox. */
const FORBIDDEN_URLS = [
  ...["ftp://merchant.example.com/", "file:///etc/passwd", "javascript:alert(1)", "merchant.example.com"],
  ...["https://user:secret@merchant.example.com/", "https://merchant.example.com:0/"],
  ...["http://169.254.169.254/", "https://[fe80::1]/", "https://0.0.0.0/", "https://224.0.0.1/"],
];

/** A merchant may have 100: then the service is right, and the rest can't be seen. */
export function refuseFull(status: number, expectLimit: () => void): void {
  if (status !== 409) return;
  expectLimit();
  throw new NotRun(
    "the merchant has 100 subscriptions already; end some, or take another merchant's --token",
  );
}

function withDetails(kit: Kit, subscriptionDetails: unknown) {
  return subscriptionOf(kit, { subscriptionDetails });
}

function keysOf(kit: Kit): unknown[] {
  return kit.exchanges.flatMap((exchange) => bodyOf(exchange).subscriptionKey ?? []);
}

/** The names of the document. */
function namesOf({ contract }: Kit): Record<"EVENT" | "CATEGORY", string[]> {
  const { components } = contract.document as { components: { schemas: Record<string, unknown> } };
  const values = (name: string) => {
    const schema = components.schemas[name];
    return isJson(schema) && Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  };
  return { EVENT: values("EventName"), CATEGORY: values("EventCategory") };
}
