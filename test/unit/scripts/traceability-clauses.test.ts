import { describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";

/** Requirements for the document itself, which no response of a server can show. */
type Operation = {
  security: object[];
  requestBody: { required: boolean; content: object };
  responses: Record<string, { $ref: string }>;
};
type Document = {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, { content?: object }>;
    schemas: Record<string, { enum?: string[] }>;
  };
};

const document = readContract("openapi").document as Document;
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
const events = Object.values(document.webhooks).flatMap((item) => Object.values(item));

/** Media types of an operation's responses, problems last. */
function responseTypes({ responses }: Operation): string[][] {
  return Object.values(responses).map(({ $ref }) =>
    Object.keys(document.components.responses[$ref.split("/").at(-1) ?? ""]?.content ?? {}),
  );
}

describe("the published contract", () => {
  /** @clause 1.2 7.1 8.1 8.5 13.1 @decision D25 */
  test("has the two operations at their addresses, and no other", () => {
    const addresses = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );

    expect(addresses).toEqual(["POST /v1/refunds", "POST /v1/webhook/subscribe"]);
  });

  /** @clause 1.5 7.3 8.3 @decision D04 D07 */
  test("has JSON in every body, of calls, responses and events", () => {
    const json = ["application/json"];
    const problem = ["application/problem+json", "application/json"];

    for (const { requestBody } of [...operations, ...events]) {
      expect([requestBody.required, Object.keys(requestBody.content)]).toEqual([true, json]);
    }
    for (const [success, ...problems] of operations.map(responseTypes)) {
      expect(success).toEqual(json);
      expect(problems).toEqual(problems.map(() => problem));
    }
  });

  /** @clause 7.2 8.2 9.1 9.2 @decision D04 */
  test("asks for the three headers in the ways that OpenAPI has, and in its text", () => {
    for (const { security } of operations) {
      expect(security.map((scheme) => Object.keys(scheme))).toEqual([["accessToken"]]);
    }

    for (const header of ["`Authorization` | `Bearer <ACCESS_TOKEN>`", "`Content-Type`", "`Accept`"]) {
      expect(document.info.description).toContain(`| ${header} |`);
    }
  });

  /** @clause 6.2 @decision D02 */
  test("calls the failure of a refund TERMINAL_FAILED wherever it names it", () => {
    const values = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      (schema.enum ?? []).map((value) => `${name} ${value}`),
    );

    expect(values.filter((value) => value.endsWith(" FAILED"))).toEqual([]);
    expect(values).toContain("RefundStatus TERMINAL_FAILED");
    expect(Object.keys(document.webhooks).filter((name) => /^refund\..*fail/.test(name))).toEqual([
      "refund.terminal_failed",
    ]);
  });
});
