import { describe, expect, test } from "vitest";
import type { Source } from "../../../openapi/document/contract.ts";
import { deriveReference } from "../../../scripts/docs/reference/document.ts";
import { createSiteRendering, readSite } from "../../../scripts/docs/rendering.ts";

type Node = Record<string, unknown>;

/** Every object of a document, with its path. Examples are skipped, because data may look like anything. */
function* nodesOf(node: unknown, pointer = ""): Generator<[pointer: string, node: Node]> {
  if (typeof node !== "object" || node === null) return;
  yield [pointer, node as Node];
  for (const [name, child] of Object.entries(node)) {
    if (name !== "examples" && name !== "x-transitions") yield* nodesOf(child, `${pointer}/${name}`);
  }
}

const site = await readSite();
const { badges } = createSiteRendering(site);
const reference = deriveReference(site) as { components: { schemas: Node } };
const nodes = [...nodesOf(reference)];

/** @decision D00 */
describe("the document that the page is rendered from", () => {
  test("shows every source of every element, and no other, at the end of its description", () => {
    const sourced = nodes.filter(([, node]) => Array.isArray(node["x-source"]));

    const wrong = sourced.filter(
      ([, { description, "x-source": sources }]) =>
        !`\n${description}`.endsWith(`\n${badges(sources as Source[])}`),
    );

    expect(wrong.map(([pointer]) => pointer)).toEqual([]);
    expect(sourced.length).toBeGreaterThan(200);
  });

  test("shows the sources of every listed value beside it", () => {
    const listed = nodes.filter(([, node]) => node["x-enum-source"] !== undefined);

    const wrong = listed.flatMap(
      ([pointer, { description, "x-enum-source": values, "x-enumDescriptions": apart = {} }]) =>
        Object.entries(values as Record<string, Source[]>).flatMap(([value, sources]) => {
          const rows = String(description).split("\n");
          const row = rows.find((line) => line.startsWith("| ") && line.split(" | ")[0]?.includes(value));
          const shown = row ?? String((apart as Node)[value]);
          return shown.includes(badges(sources)) ? [] : [`${pointer} ${value}`];
        }),
    );

    expect(wrong).toEqual([]);
    expect(listed.length).toBeGreaterThan(8);
  });

  /** @clause 7.4 */
  test("shows a refund in the one shape that all its statuses share", () => {
    const { components } = reference;

    const branching = ["if", "then", "else", "oneOf", "anyOf"];
    expect(Object.keys(components.schemas.Refund as Node).filter((name) => branching.includes(name))).toEqual(
      [],
    );
  });
});
