import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpResponse, readContract } from "../../openapi/document/read-contract.ts";
import type { PublishedId as OperationId } from "../../server/contract/operation-types.ts";
import { exchange, head } from "../helpers/network/raw-http.ts";
import { type PostOptions, post, startTestServer, useTestServer } from "../helpers/server.ts";

const contract = readContract("openapi");

const REFUND = { paymentId: "pay_settled", amount: { currency: "USD", value: 1 }, requestKey: "statuses-1" };
const SUBSCRIPTION = {
  url: "https://merchant.example.com/webhooks",
  secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
  subscriptionDetails: { type: "ALL" },
};
/** Of each operation, without which this does not compile: a valid body or, where it has none, the parameters of the path. */
const INPUTS: Readonly<Record<OperationId, object>> = {
  issueRefund: REFUND,
  subscribeToWebhooks: SUBSCRIPTION,
};

type Reach = (id: OperationId) => Promise<HttpResponse>;

const server = useTestServer();
/** Has no time for bodies: for the one call whose body never ends. */
const hasty = useTestServer({ bodyTimeoutMs: 200 });
const limited = useTestServer({ env: { RATE_LIMIT: "1" } });
const broken = useTestServer();
let noScopes: string;
beforeAll(async () => {
  const token = await post<{ accessToken: string }>(server.url, "/sandbox/tokens", { scopes: [] });
  noScopes = token.body.accessToken;
});

const pathOf = (id: OperationId) => contract.operation(id).path;
const send = (url: string, id: OperationId, input: unknown, options?: PostOptions) => {
  const { method } = contract.operation(id);
  const values: Record<string, string> = { ...Object(input) };
  const path = pathOf(id).replaceAll(/{(\w+)}/g, (_, name) => values[name] ?? "");
  return post(url, path, method === "GET" ? undefined : input, { method, ...options });
};
const call = (id: OperationId, input: unknown, options?: PostOptions) => send(server.url, id, input, options);
const refund = (fields: object) => () => call("issueRefund", { ...REFUND, ...fields });
const subscription = (fields: object) => () => call("subscribeToWebhooks", { ...SUBSCRIPTION, ...fields });

/** The examples of requests as printed; each has a response of the same name. */
const asPrinted = (id: OperationId): Record<string, Reach> =>
  Object.fromEntries(contract.operation(id).requests.map(({ name, value }) => [name, () => call(id, value)]));

/** How to get each response of both operations, by the name of its example. */
const COMMON: Record<string, Reach> = {
  unauthorized: (id) => call(id, INPUTS[id], { token: null }),
  forbidden: (id) => call(id, INPUTS[id], { token: noScopes }),
  notAcceptable: (id) => call(id, INPUTS[id], { headers: { Accept: "text/xml" } }),
  malformed: (id) => sendRaw(server.url, `POST ${pathOf(id)} HTTP/1.1\r\nno colon\r\n\r\n`),
  requestTimeout: (id) => sendRaw(hasty.url, head(pathOf(id), { "Content-Length": 50 }), "{"),
  payloadTooLarge: (id) => call(id, " ".repeat(70_000)),
  unsupportedMediaType: (id) => call(id, INPUTS[id], { headers: { "Content-Type": "text/plain" } }),
  rateLimited: callTooOften,
  internalError: callWithoutTables,
  unavailable: callWithoutDatabase,
};

const REACHED: Record<OperationId, Record<string, Reach>> = {
  issueRefund: {
    ...COMMON,
    ...asPrinted("issueRefund"),
    refundsHeld: async (id) => {
      await post(server.url, "/sandbox/faults", { kind: "REFUNDS_HELD" });
      return call(id, REFUND);
    },
    duplicateOfRefund: (id) => asPrinted(id).authorized?.(id) ?? Promise.reject(),
    tooManyDigits: refund({ amount: { currency: "USD", value: 19.999 } }),
    severalViolations: refund({
      amount: { currency: "EUR", value: 1 },
      requestKey: undefined,
      status: "PENDING",
    }),
    conflictingReferences: refund({ clientReferenceId: "order-1", clientRefefenceId: "order-2" }),
  },
  subscribeToWebhooks: {
    ...COMMON,
    ...asPrinted("subscribeToWebhooks"),
    detailsMissing: subscription({ subscriptionDetails: { type: "CATEGORY" } }),
    detailsNotAList: subscription({ subscriptionDetails: { type: "CATEGORY", details: "PAYMENT" } }),
    unknownEvent: subscription({ subscriptionDetails: { type: "EVENT", details: ["refund.done"] } }),
    privateAddress: subscription({ url: "https://169.254.0.7/webhooks" }),
    subscriptionLimit: subscribeTooOften,
  },
};

describe("every documented response, the examples' requests being sent as printed,", () => {
  describe.each(contract.operations)("of $id", (operation) => {
    const id = operation.id as OperationId;
    const reached = new Set<number>();

    afterAll(() => {
      const list = [...reached].sort((a, b) => a - b);
      process.stdout.write(
        `${operation.method} ${operation.path} was seen to respond with ${list.join(", ")}\n`,
      );
      expect(list).toEqual(operation.statuses);
      expect(Object.keys(REACHED[id]).toSorted()).toEqual(
        operation.responses.map(({ name }) => name).toSorted(),
      );
    });

    test.each(Object.keys(REACHED[id]))("%s is reached and is as documented", async (name) => {
      const response = await REACHED[id][name]?.(id);

      const documented = operation.responses.find((example) => example.name === name);
      expect(response?.status).toBe(documented?.status);
      expect(response && contract.violationsOf(id, response)).toEqual([]);
      expect(masked(response?.body)).toEqual(masked(documented?.value));
      reached.add(response?.status ?? 0);
    });
  });
});

/** Removes the parts that differ between responses: ids, and the scope that an operation requires. */
function masked(body: unknown): unknown {
  const json = JSON.stringify(body)
    .replaceAll(/"(rfd|sub)_[0-9a-f-]{36}"/g, '"$1_…"')
    .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, "…");
  return JSON.parse(json.replaceAll(/needs: \w+/g, "needs: …"));
}

/** Sends bytes as they are, such as the beginning of a body and no more. */
async function sendRaw(...call: Parameters<typeof exchange>): Promise<HttpResponse> {
  const response = await exchange(...call);
  return { ...response, headers: new Headers(response.headers) };
}

async function callTooOften(id: OperationId): Promise<HttpResponse> {
  for (;;) {
    const response = await send(limited.url, id, INPUTS[id]);
    if (response.status === 429) return response;
  }
}

async function callWithoutTables(id: OperationId): Promise<HttpResponse> {
  const table = sql.table(id === "subscribeToWebhooks" ? "subscriptions" : "payments");
  await sql`alter table ${table} rename to gone`.execute(broken.database.db);
  try {
    return await send(broken.url, id, INPUTS[id]);
  } finally {
    await sql`alter table gone rename to ${table}`.execute(broken.database.db);
  }
}

async function callWithoutDatabase(id: OperationId): Promise<HttpResponse> {
  await using closing = await startTestServer();
  await closing.database.close();
  return await send(closing.url, id, INPUTS[id]); // responds before the server is closed
}

async function subscribeTooOften(): Promise<HttpResponse> {
  const token = "sandbox_globex";
  for (let secret = 0; ; secret += 1) {
    const body = { ...SUBSCRIPTION, secretKey: `secret ${secret}` };
    const response = await call("subscribeToWebhooks", body, { token });
    if (response.status !== 200) return response;
  }
}
