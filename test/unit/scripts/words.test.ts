/** The contract's descriptions keep to the words of .textlintrc.json, as `npm run lint` checks for the docs. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isNode, walk } from "../../../openapi/document/document-node.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";

type Rules = { rules: { terminology: { terms: [pattern: string, instead: string][] } } };

const { rules }: Rules = JSON.parse(readFileSync(".textlintrc.json", "utf8"));
const slips = rules.terminology.terms.map(([pattern]) => new RegExp(`\\b(?:${pattern})\\b`, "i"));

/** The prose linter reads Markdown only, but the contract's descriptions have more readers. */
test.each(["openapi", "sandbox"] as const)(
  "the descriptions of the contract %s keep to the words of the docs",
  (name) => {
    const texts = Array.from(walk(readContract(name).document, ["value", "x-source"])).flatMap(({ part }) =>
      isNode(part) ? [part.description, part.summary, part["x-pattern-message"]] : [],
    );
    const prose = texts.filter((text) => typeof text === "string");

    const wrong = prose.flatMap((text) =>
      slips.flatMap((slip) => slip.exec(text)?.[0] ?? []).map((slip) => `${slip}: ${text}`),
    );

    expect(wrong).toEqual([]);
    expect(prose.length).toBeGreaterThan(100);
  },
);
