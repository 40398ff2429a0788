import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/read-contract.ts";
import { toPage } from "../../scripts/docs/pages.ts";
import { badgesOf } from "../../scripts/docs/reference.ts";

const pageOf = (file: string) => toPage(readFileSync(file, "utf8"), file);

describe("a page of the docs", () => {
  test("is in a menu", () => {
    const menus = readFileSync("docs/.vitepress/config.ts", "utf8");
    const pages = globSync("docs/{,guides/,operators/}*.md").filter((file) => file !== "docs/index.md");

    const missing = pages.filter((file) => !menus.includes(`"/${file.slice(5, -3)}"`));

    expect(missing, "add these pages to a menu in docs/.vitepress/config.ts").toEqual([]);
  });

  test("lists for a clause of the interface the elements of the contract that cite it, and the decisions about them", () => {
    const clause = pageOf("docs/interface.md")
      .split(/^### /m)
      .find((text) => text.startsWith("2.6 "));

    expect(clause).toContain("- In the contract: `RefundRequest.clientRefefenceId`");
    expect(clause).toContain(
      "[D01 Two spellings of the reference](decisions.md#d01-two-spellings-of-the-reference)",
    );
  });

  test("of states has every transition of the contract in its table and its drawing", () => {
    const { schemas } = readContract("openapi").document.components as {
      schemas: { RefundStatus: { "x-transitions": { to: string; when: string }[] } };
    };
    const page = pageOf("docs/states.md");

    for (const [index, { to, when }] of schemas.RefundStatus["x-transitions"].entries()) {
      expect(page).toContain(`→ \`${to}\` | ${when} (`);
      expect(page).toContain(`>${index + 1}: `);
    }
  });

  test("of decisions lists each with a whole sentence, and is not built with half of one", () => {
    const text = readFileSync("docs/decisions.md", "utf8");
    const page = pageOf("docs/decisions.md");

    for (const [, id] of text.matchAll(/^### (D\S+) /gm))
      expect(page).toMatch(
        new RegExp(`^\\| \\[${id}\\]\\(#${id?.toLowerCase()}-\\S+ .* \\| [A-Z\`].*\\. \\|$`, "m"),
      );
    const cut = text.replace(/\*\*Decided:\*\* .*?\n\n/s, "**Decided:** this list:\n\n");
    expect(() => toPage(cut, "docs/decisions.md")).toThrow("D00 has to begin with one whole sentence");
  });

  test("of error codes says the status, the type and the operations of each", () => {
    expect(pageOf("docs/problems.md")).toContain(
      "### DUPLICATE_REQUEST_KEY\n**409** · `/problems/duplicate-request-key` · [Issue a refund](reference.html#/refunds/issuerefund)\n",
    );
  });

  test("fails for a code without a text, a text without a code, and a link to a file that does not exist", () => {
    const text = readFileSync("docs/problems.md", "utf8");

    expect(() => toPage(text.replace("### RATE_LIMITED", "### LIMITED"), "docs/problems.md")).toThrow(
      "LIMITED, which is no code",
    );
    expect(() => toPage(text.replace("### RATE_LIMITED", ""), "docs/problems.md")).toThrow(
      "does not explain RATE_LIMITED",
    );
    expect(() => toPage("[x](nothing.md)", "docs/guides/start.md")).toThrow(
      "links to nothing.md, which does not exist",
    );
  });

  test("leads from a file of the contract to the reference, also in a text from outside of docs", () => {
    const link = "[a](../openapi/sandbox/paths.yaml#resetSandbox) [b](../openapi/generated/openapi.yaml)";

    expect(toPage(link, "docs/states.md")).toBe(
      "[a](sandbox-reference.html#/sandbox/resetsandbox) [b](openapi.yaml)",
    );
    expect(pageOf("docs/changelog.md")).toContain("[versioning](guides/versioning.md)");
  });
});

test("a badge of the reference leads to the heading of its clause or decision", () => {
  expect(
    badgesOf([
      { kind: "specified", clause: "2.3" },
      { kind: "decided", decision: "D01" },
      { kind: "decided", decision: "D22", fills: "10.4" },
    ]),
  ).toBe(
    '<span class="sources"><a class="source specified" href="interface.html#23-amountcurrency" title="2.3 amount.currency">specified 2.3</a> ' +
      '<a class="source decided" href="decisions.html#d01-two-spellings-of-the-reference" title="D01 Two spellings of the reference">decided D01</a> ' +
      '<a class="source decided" href="decisions.html#d22-signature" title="D22 Signature">decided D22</a>' +
      '<a class="source fills" href="interface.html#104-form-of-a-delivery" title="10.4 Form of a delivery">fills 10.4</a></span>',
  );
});
