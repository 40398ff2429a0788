import { expect, test } from "vitest";
import { setAt, valueAt } from "../../openapi/document/pointer.ts";
import { readGenerated } from "../../openapi/document/read-generated.ts";
import { toDocumentedTypes } from "../../scripts/generate/documented-types.ts";
import { toOpenApi30 } from "../../scripts/generate/openapi-3.0.ts";

test("the type of an open list has null where the contract allows it", async () => {
  const list = { "x-extensible-enum": ["A"] };
  const schemas = { Open: { type: "string", ...list }, Nullable: { type: ["string", "null"], ...list } };
  const info = { title: "", version: "1.0.0" };

  const types = await toDocumentedTypes({ openapi: "3.1.0", info, paths: {}, components: { schemas } });

  expect(types).toContain('Open: "A" | (string & {});');
  expect(types).toContain('Nullable: "A" | (string & {}) | null;');
});

test("the contract as OpenAPI 3.0 keeps a field whose name is that of a keyword", async () => {
  const pointer = "/components/schemas/RefundRequest/properties/discriminator";
  const document = setAt(JSON.parse(readGenerated("openapi.json")), pointer, { type: "string" });

  expect(valueAt(await toOpenApi30(document), pointer)).toEqual({ type: "string" });
});
