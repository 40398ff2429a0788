import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { follow, isNode, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";

async function read(name: string): Promise<Node> {
  return JSON.parse(
    await readFile(new URL(`../../../openapi/generated/${name}.json`, import.meta.url), "utf8"),
  );
}

const contract = await read("openapi");
const twin = await read("openapi-3.0");

/** Compiles the schema at a pointer; draft 7 with `nullable` is how OpenAPI 3.0 reads a schema. */
function createValidate(document: Node, Validate: typeof Ajv | typeof Ajv2020) {
  const ajv = new Validate({ strict: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");
  return (pointer: string, value: unknown) => ajv.validate({ $ref: `document#${encodeURI(pointer)}` }, value);
}

const isValid = createValidate(contract, Ajv2020);
const isValidTwin = createValidate(twin, Ajv);

type Example = { readonly name: string; readonly pointer: string; readonly value: unknown };

/** Every named example below a part of a document, with the pointer to the schema beside it. */
function examplesBelow(document: Node, part: unknown, pointer = ""): Example[] {
  if (typeof part !== "object" || part === null) return [];
  const own =
    isNode(part) && isNode(part.examples) && isNode(part.schema)
      ? members(part.examples).map(([name, example]) => ({
          name,
          pointer: `${pointer}/schema`,
          value: follow(document, example).value,
        }))
      : [];
  const below = Object.entries(part).flatMap(([name, child]) =>
    examplesBelow(document, child, pointer + step(name)),
  );
  return [...own, ...below];
}

const examples = examplesBelow(contract, contract);
const twinExamples = examplesBelow(twin, twin);
const valuesOf = (found: readonly Example[]) => found.map(({ value }) => JSON.stringify(value)).sort();

/** @decision D07 D28 */
describe("the contract as OpenAPI 3.0", () => {
  test("has every example of the contract", () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(valuesOf(twinExamples)).toEqual(valuesOf(examples));
  });

  test.each(twinExamples)("takes the example $name at $pointer", ({ pointer, value }) => {
    expect(isValidTwin(pointer, value)).toBe(true);
  });

  const refund = { paymentId: "rfd_1", clientReferenceId: null };
  const errorDetails = { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "The debit failed." };
  test.each([
    [{ ...refund, paymentStatus: "PENDING" }, true, true],
    [{ ...refund, paymentStatus: "TERMINAL_FAILED", errorDetails }, true, true],
    [{ ...refund, paymentStatus: "FAILED", errorDetails }, false, false],
    [{ paymentId: "rfd_1", paymentStatus: "PENDING" }, false, false],
    [{ ...refund, paymentStatus: "PENDING", unknown: 1 }, false, false],
    // 3.0 has no conditions.
    [{ ...refund, paymentStatus: "AUTHORIZED", errorDetails }, false, true],
    [{ ...refund, paymentStatus: "TERMINAL_FAILED" }, false, true],
  ])("of the refund %j the contract says %s, and its twin %s", (value, byContract, byTwin) => {
    const pointer = "/components/schemas/Refund";

    expect([isValid(pointer, value), isValidTwin(pointer, value)]).toEqual([byContract, byTwin]);
  });

  test("has each webhook as a callback of the subscription, with its body as a named schema", () => {
    const events = members(contract.webhooks).map(([name]) => name);
    const { schemas } = twin.components as { schemas: Node };
    const subscribe = (twin.paths as Record<string, { post: Node }>)["/v1/webhook/subscribe"]?.post;

    expect(Object.keys((subscribe?.callbacks ?? {}) as Node)).toEqual(events);
    expect(Object.keys(schemas).filter((name) => name.endsWith("Event"))).toHaveLength(events.length);
  });

  test("has neither discriminators nor a named status, at which generated Rust, Kotlin and Perl fail", () => {
    const { schemas } = twin.components as { schemas: Record<string, { properties?: Node } | undefined> };

    expect(JSON.stringify(twin)).not.toContain('"discriminator"');
    expect(schemas.RefundStatus).toBeUndefined();
    expect(schemas.Refund?.properties?.paymentStatus).toMatchObject({
      enum: ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"],
    });
  });

  test("loses no construct that the guide does not list", async () => {
    const guide = await readFile(new URL("../../../docs/guides/older-openapi.md", import.meta.url), "utf8");
    const keysOf = (part: unknown): string[] =>
      typeof part === "object" && part !== null
        ? Object.entries(part).flatMap(([key, value]) => [
            ...(Array.isArray(part) ? [] : [key]),
            ...keysOf(value),
          ])
        : [];
    const kept = new Set(keysOf(twin));
    const lost = new Set(keysOf(contract).filter((key) => !kept.has(key) && !key.startsWith("x-")));

    expect([...lost].filter((key) => !guide.includes(key))).toEqual([]);
    expect(lost).toContain("dependentRequired");
  });
});
