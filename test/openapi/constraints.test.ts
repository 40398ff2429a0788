import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { type Constraint, findConstraints } from "../../openapi/document/constraints.ts";
import { type Contract, readContract } from "../../openapi/document/contract.ts";
import type { BreakingRequest } from "../conformance/constraints/requests.ts";
import { acceptedRequests, breakingRequests } from "../conformance/constraints/requests.ts";
import { sendCall, type Tokens } from "../conformance/constraints/send.ts";
import { createMerchant, createPayment, createToken, type InvalidRequest } from "../helpers/factories.ts";
import { startTestServer, type TestServer } from "../helpers/server.ts";

const published = readContract("openapi");

/** The id of the examples' payment here, for a merchant of this test alone. */
const PAYMENT_ID = "pay_of_constraints";

const IDS = { pay_settled: PAYMENT_ID };

let server: TestServer;
/** The token of the payment's merchant. */
let tokens: Tokens;

beforeAll(async () => {
  server = await startTestServer({ engine: "postgres" });
  const { merchant, token } = await createMerchant(server);
  await createPayment(server, { merchant, paymentId: PAYMENT_ID });
  tokens = { valid: token, unknown: "nobodys-token", unscoped: await createToken(server, merchant, []) };
  return () => server.close();
});

/** One row for each constraint, with its name and its requests. */
function byConstraint<Request extends { readonly constraint: Constraint }>(
  requests: readonly Request[],
): [id: string, requests: Request[]][] {
  return [...Map.groupBy(requests, ({ constraint }) => constraint.id)];
}

const TABLES = ["payments", "events", "subscriptions", "deliveries", "access_tokens"];

async function countRows(): Promise<unknown> {
  const counts = TABLES.map((table) => sql`(select count(*)::int from ${sql.table(table)})`.as(table));
  const { rows } = await sql`select ${sql.join(counts)}`.execute(server.database.db);
  return rows[0];
}

/**
 * @clause 2.1 2.2 2.3 2.4 2.7 2.8 4.2 4.4 4.5 4.6 4.7 9.1 9.2 12.1 12.2 12.3
 * @decision D03 D07 D08 D13 D14 D15
 */
describe.each<[string, Contract]>([
  ["the contract", published],
  ["the sandbox's contract", readContract("sandbox")],
])("the server refuses what breaks a constraint of %s, and stores nothing", (_name, contract) => {
  const constraints = findConstraints(contract.document);
  const requests = breakingRequests(contract.document, constraints, {
    requestKeyPrefix: "breaking-",
    ids: IDS,
  });

  const refusalOf = async ({ name, call }: BreakingRequest) => {
    const response = await sendCall(server.url, call, tokens);
    const { errorDetails, violations } = response.body as InvalidRequest;
    const undocumented = contract.violationsOf(call.operationId, response);
    return {
      name,
      status: response.status,
      code: errorDetails?.errorCode,
      pointers: violations?.map(({ pointer }) => pointer),
      undocumented,
    };
  };

  test.each(byConstraint(requests))("%s", async (_id, broken) => {
    const before = await countRows();

    const refusals = await Promise.all(broken.map(refusalOf));

    const promised = broken.map(({ name, expected: { status, code, pointer } }) => {
      return {
        name,
        status,
        code,
        pointers: pointer === undefined ? undefined : [pointer],
        undocumented: [],
      };
    });
    expect(refusals).toEqual(promised);
    expect(await countRows()).toEqual(before);
  });
});

/** @decision D13 D14 D15 */
describe("the server takes what goes as far as a constraint allows", () => {
  const constraints = findConstraints(published.document);
  const requests = acceptedRequests(published.document, constraints, {
    requestKeyPrefix: "accepted-",
    ids: IDS,
  });

  /** Outcomes that depend on the meaning of a value, not its form: no payment has this id, or the key is used. */
  const MEANINGS: Readonly<Record<string, number>> = { "/paymentId": 404, "/requestKey": 409 };

  test.each(byConstraint(requests))("%s", async (_id, accepted) => {
    // A merchant may have only so many subscriptions; the payment belongs to one merchant.
    const { token } = await createMerchant(server);

    for (const { name, constraint, call, outcomes } of accepted) {
      const valid = call.operationId === "issueRefund" ? tokens.valid : token;
      const response = await sendCall(server.url, call, { ...tokens, valid });

      const understood = outcomes.filter((status) => status < 300 || status === MEANINGS[constraint.at]);
      expect(understood, `${name}: ${JSON.stringify(response.body)}`).toContain(response.status);
      expect(published.violationsOf(call.operationId, response), name).toEqual([]);
    }
  });

  test("which leaves out only a URL of one character, because there is none", () => {
    const bounds = [
      "minLength",
      "maxLength",
      "minimum",
      "maximum",
      "exclusiveMinimum",
      "minItems",
      "maxItems",
    ];
    const tried = new Set(requests.map(({ constraint }) => constraint.id));
    const onRequests = constraints.filter(
      ({ side, keyword }) => side === "request" && bounds.includes(keyword),
    );

    const untried = onRequests
      .filter(({ id }) => !tried.has(id))
      .map(({ at, keyword }) => `${at} ${keyword}`);

    expect(untried).toEqual(["/url minLength"]);
  });
});
