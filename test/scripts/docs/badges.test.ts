import { describe, expect, test } from "vitest";
import type { Source } from "../../../openapi/document/contract.ts";
import { isNode, type Node, walk } from "../../../openapi/document/node.ts";
import { deriveReference } from "../../../scripts/docs/reference/document.ts";
import { createSiteRendering, readSite } from "../../../scripts/docs/rendering.ts";

const site = await readSite();
const { badges } = createSiteRendering(site);
/** Every object of the document, with its path. Examples are skipped, because data may look like anything. */
const nodes = Array.from(walk(deriveReference(site), ["examples", "x-transitions"])).flatMap(
  ({ path, part }) => (isNode(part) ? [{ ...part, path: path.join("/") } as Node & { path: string }] : []),
);

/** @decision D00 */
describe("the document that the page is rendered from", () => {
  test("shows every source of every element, and no other, at the end of its description", () => {
    const sourced = nodes.filter((node) => Array.isArray(node["x-source"]));

    const wrong = sourced.filter(
      ({ description, "x-source": sources }) =>
        !`\n${description}`.endsWith(`\n${badges(sources as Source[])}`),
    );

    expect(wrong.map(({ path }) => path)).toEqual([]);
    expect(sourced.length).toBeGreaterThan(200);
  });

  test("shows the sources of every listed value beside it", () => {
    const listed = nodes.filter((node) => node["x-enum-source"] !== undefined);

    const wrong = listed.flatMap(
      ({ path, description, "x-enum-source": values, "x-enumDescriptions": apart = {} }) =>
        Object.entries(values as Record<string, Source[]>).flatMap(([value, sources]) => {
          const rows = String(description).split("\n");
          const row = rows.find((line) => line.startsWith("| ") && line.split(" | ")[0]?.includes(value));
          const shown = row ?? String((apart as Node)[value]);
          return shown.includes(badges(sources)) ? [] : [`${path} ${value}`];
        }),
    );

    expect(wrong).toEqual([]);
    expect(listed.length).toBeGreaterThan(8);
  });

  /** @clause 7.4 */
  test("shows a refund in the one shape that all its statuses share", () => {
    const refund = nodes.find(({ path }) => path === "components/schemas/Refund") ?? {};

    const branching = ["if", "then", "else", "oneOf", "anyOf"];
    expect(refund).toHaveProperty("properties");
    expect(Object.keys(refund).filter((name) => branching.includes(name))).toEqual([]);
  });
});
