import { follow, type Node } from "../../../openapi/document/node.ts";
import { operationsOf } from "../../../openapi/document/operations.ts";

/** A call that creates the record that another call uses. */
export type Step = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** A value of the response that the next call uses, and its location in the response. */
  readonly take?: { readonly name: string; readonly from: readonly (string | number)[] };
};

/** A call to show: one operation with the values of one example. */
export type Call = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly url: string;
  /** The same with the names of values from earlier steps in braces. */
  readonly preparedUrl: string;
  readonly body: unknown;
  /** All bodies of the contract for it, that one first, by their summaries. */
  readonly examples: readonly { readonly name: string; readonly body: unknown }[];
  readonly summary: string;
  /** Its part of the reference, such as `refunds/issuerefund`. */
  readonly route: string;
  /** Calls that create the records that this one uses. */
  readonly before?: readonly Step[];
};

/**
 * Payments of a fresh sandbox in the state that a call needs, used instead of the parameter's example. No two calls that
 * change a payment for good share one, so that the samples also work one after the other.
 */
const PAYMENTS: Readonly<Record<string, string>> = {
  settlePayment: "pay_processing",
  failPayment: "pay_recent",
};

const SUBSCRIBE = {
  method: "POST",
  path: "/v1/webhook/subscribe",
  body: {
    url: "http://127.0.0.1:4000/webhooks",
    secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    subscriptionDetails: { type: "ALL" },
  },
} as const;

const SUBSCRIBED: readonly Step[] = [
  { ...SUBSCRIBE, take: { name: "subscriptionKey", from: ["subscriptionKey"] } },
];

const EMIT = {
  method: "POST",
  path: "/sandbox/events",
  body: { type: "account.linked", resourceId: "acc_7h2k9" },
} as const;

const DELIVER: readonly Step[] = [
  SUBSCRIBE,
  EMIT,
  {
    method: "GET",
    path: "/sandbox/deliveries?limit=1",
    take: { name: "webhookId", from: ["items", 0, "webhookId"] },
  },
];

/** Records that a fresh sandbox does not have are created first. */
const PREPARATIONS: Readonly<Record<string, readonly Step[]>> = {
  endSubscription: SUBSCRIBED,
  getSubscription: SUBSCRIBED,
  rotateSecret: SUBSCRIBED,
  getEvent: [
    EMIT,
    {
      method: "GET",
      path: "/sandbox/events?limit=1",
      take: { name: "eventId", from: ["items", 0, "eventId"] },
    },
  ],
  getDelivery: DELIVER,
  redeliver: DELIVER,
};

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Node[];
  readonly requestBody?: Node;
};

/** Operations without a sample: a program that printed the whole response would never end. */
const STREAMS = ["streamChanges"];

/**
 * A call of each operation of a contract, with the values of its first examples; each succeeds on a fresh sandbox, after the
 * calls before it.
 */
export function callsOf(document: Node): Call[] {
  const [{ url: base }] = document.servers as [{ url: string }];
  return operationsOf(document, ["paths"]).flatMap(({ path, method, item, operation }) => {
    const { operationId, summary, tags, parameters = [], requestBody } = operation as Operation;
    if (STREAMS.includes(operationId)) return [];
    const shared = (item.parameters ?? []) as Node[];
    const known = [...shared, ...parameters].map((part) => follow(document, part));
    const before = PREPARATIONS[operationId];
    const taken = before?.map(({ take }) => take?.name);
    const fill = (kept: readonly (string | undefined)[] = []) =>
      path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
        if (kept.includes(name)) return whole;
        return (name === "paymentId" && PAYMENTS[operationId]) || exampleOf(known, name);
      });
    const examples = examplesOf(document, requestBody);
    return {
      operationId,
      summary,
      route: `${tags[0]}/${operationId}`.toLowerCase(),
      method: method.toUpperCase(),
      path,
      url: base + fill(),
      preparedUrl: base + fill(taken),
      body: examples[0]?.body,
      examples,
      ...(before && { before }),
    };
  });
}

function exampleOf(parameters: readonly Node[], name: string): string {
  const parameter = parameters.find((one) => one.in === "path" && one.name === name);
  if (typeof parameter?.example !== "string") throw new Error(`The parameter ${name} has no example.`);
  return encodeURIComponent(parameter.example);
}

function examplesOf(document: Node, requestBody: Node | undefined): Call["examples"] {
  if (!requestBody) return [];
  const [media] = Object.values(follow(document, requestBody).content as Record<string, { examples: Node }>);
  return Object.values(media?.examples ?? {}).map((part) => {
    const { summary, value } = follow(document, part);
    return { name: String(summary), body: value };
  });
}
