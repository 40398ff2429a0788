import { expect, test } from "vitest";
import type { Node } from "../../../openapi/document/node.ts";
import { deriveReference } from "../../../scripts/docs/reference/document.ts";
import { readSite } from "../../../scripts/docs/rendering.ts";

const { schemas } = deriveReference(await readSite()).components as { schemas: Record<string, Node> };

test("the reference shows the sources of a listed value in its row, or beside it", () => {
  const { Amount, RefundErrorDetails } = schemas as Record<string, { properties: Record<string, Node> }>;

  const rows = String(RefundErrorDetails?.properties.errorCode?.description).split("\n");
  const row = rows.find((line) => line.startsWith("| `CUSTOMER_NOT_DEBITED` | "));
  expect(row).toMatch(/>specified 3\.5<.*>specified 11\.2<.* \|$/);
  const beside = { USD: expect.stringContaining(">specified 2.3<") };
  expect(Amount?.properties.currency).toMatchObject({ "x-enumDescriptions": beside });
});

test("the reference shows a refund in the one shape that all its statuses share", () => {
  const branching = ["if", "then", "else", "oneOf", "anyOf"];
  expect(schemas.Refund).toHaveProperty("properties");
  expect(Object.keys(schemas.Refund ?? {}).filter((name) => branching.includes(name))).toEqual([]);
});
