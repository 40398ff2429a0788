import { describe, expect, test } from "vitest";
import { BASE_REFUND } from "../../conformance/expected/refunds.ts";
import { refusedRefunds, requestTable } from "../../conformance/expected/requests.ts";
import type { Row } from "../../conformance/expected/row.ts";
import { bodyOf } from "../../conformance/expected/send.ts";
import { countRows, type InvalidRequest } from "../../helpers/factories.ts";
import { exchange, head, type RawResponse } from "../../helpers/network/raw-http.ts";
import { useTestServer } from "../../helpers/server.ts";

/** The bodies of the expected behaviour whose violations are at one of these pointers, or at any other. */
const at = (...pointers: string[]) =>
  refusedRefunds.filter(
    ({ expected }) => expected.pointers?.length === 1 && pointers.includes(expected.pointers[0] ?? ""),
  );
const whole = at("");
const amounts = at("/amount/value");
const currencies = at("/amount/currency");
const others = refusedRefunds.filter((row) => ![...whole, ...amounts, ...currencies].includes(row));

describe("a refund call with a bad body", () => {
  const server = useTestServer();

  /** Sends the bytes unchanged, and expects a 400 without any effect on the store. */
  async function refuse(body: string | Uint8Array): Promise<InvalidRequest> {
    const before = await countRows(server);
    const bytes = Buffer.from(body);
    const response = await exchange(
      server.url,
      head("/v1/refunds", { "Content-Length": bytes.length }),
      bytes,
    );
    expect(await countRows(server)).toEqual(before);
    return toCleanProblem(response);
  }

  const listsItsViolations = async (row: Row) => {
    const { violations } = await refuse(bodyOf(row));
    expect(violations.map(({ pointer }) => pointer).sort()).toEqual(row.expected.pointers?.toSorted());
  };

  /** @clause 1.5 7.3 @decision D15 */
  describe("is refused as a whole", () => {
    test.each(whole)("$name", listsItsViolations);
  });

  /** @clause 2.1 2.2 2.5 2.7 2.8 12.3 @decision D01 D07 D14 D15 */
  describe("gets a list of its wrong fields", () => {
    test.each(others)("$name", listsItsViolations);
  });

  /** @clause 2.4 12.1 @decision D13 */
  describe("gets one violation for its wrong amount", () => {
    test.each(amounts)("$name", listsItsViolations);
  });

  /** @clause 2.3 12.2 @decision D13 */
  describe("gets one violation for its wrong currency", () => {
    test.each(currencies)("$name", listsItsViolations);
  });

  /** @decision D07 */
  test("gets 20 violations at most, and their total number", async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 0]));

    const { detail, violations } = await refuse(JSON.stringify({ ...BASE_REFUND, ...many }));

    expect(violations).toHaveLength(20);
    expect(detail).toBe("The request has 100 errors; see violations.");
  });

  test.each(requestTable.filter(({ check }) => check === "payment.unknown"))(
    "that is well formed and names an unknown payment gets 404: $name",
    async (row) => {
      const before = await countRows(server);
      const body = bodyOf(row);
      const response = await exchange(
        server.url,
        head("/v1/refunds", { "Content-Length": Buffer.byteLength(body) }),
        body,
      );

      expect(response).toMatchObject({ status: 404, body: { errorDetails: { errorCode: "NOT_FOUND" } } });
      expect(await countRows(server)).toEqual(before);
    },
  );
});

/** Only documented members, and each string within its bounds. */
function toCleanProblem({ status, body }: RawResponse): InvalidRequest {
  const problem = body as InvalidRequest; // compared as a whole in the next line
  expect([status, problem]).toEqual([
    400,
    {
      type: "urn:problem:invalid-request",
      title: "Invalid request",
      status: 400,
      detail: expect.stringMatching(/^The request has (one error|\d+ errors); see violations\.$/),
      instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      errorDetails: { errorCode: "INVALID_REQUEST", errorMessage: problem.detail },
      violations: problem.violations.map(() => ({
        pointer: expect.stringMatching(/^.{0,1000}$/su),
        message: expect.stringMatching(/^.{1,1000}$/),
      })),
    },
  ]);
  return problem;
}
