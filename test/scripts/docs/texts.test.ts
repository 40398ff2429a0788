import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readContract } from "../../../openapi/document/contract.ts";
import { headingsOf } from "../../../openapi/document/headings.ts";
import { readSite } from "../../../scripts/docs/rendering.ts";
import { renderTexts } from "../../../scripts/docs/texts.ts";

const site = await readSite();
const texts = renderTexts(site);
const textOf = (name: string) => texts.get(name) ?? "";

/** Addresses of links in a text, outside of its code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, address = ""]) => address);
}

describe("the plain text of the site", () => {
  test("has every page, under its title, and lists them", () => {
    const titles = site.pages.map(({ slug }) => textOf(`${slug}.md`).split("\n")[0]);

    expect(titles).toEqual(site.pages.map(({ title }) => `# ${title}`));
    const listed = linksOf(textOf("llms.txt"));
    expect(listed.sort()).toEqual([...site.pages.map(({ slug }) => `${slug}.md`), "reference.md"].sort());
    for (const name of listed) expect(textOf("llms-full.txt")).toContain(textOf(name).trim());
  });

  test("links to what exists", () => {
    const pages = [...texts].filter(([name]) => name.endsWith(".md"));
    const anchorsOf = ([name, text]: [string, string]): [string, string[]] => [
      name,
      name.endsWith(".md") ? headingsOf(text).map(({ anchor }) => anchor) : [],
    ];
    const anchors = new Map([...texts].map(anchorsOf));

    const links = pages.flatMap(([name, text]) => linksOf(text).map((address) => ({ name, address })));
    const inside = links.filter(({ address }) => !address.startsWith("https://"));
    const broken = inside.filter(({ name, address }) => {
      const [file, anchor] = address.split("#");
      const known = anchors.get(file || name);
      return !known || (anchor !== undefined && !known.includes(anchor));
    });

    expect(broken).toEqual([]);
    expect(inside.length).toBeGreaterThan(500);
  });

  test("has fences around all code: the page shows code that is only indented as prose", () => {
    const indented = [...texts]
      .filter(([name]) => !/^openapi.*yaml$/.test(name))
      .flatMap(([name, text]) =>
        [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/\n\n {4}\S.*/g)].map(
          ([line]) => `${name}: ${line}`,
        ),
      );

    expect(indented).toEqual([]);
    expect(textOf("going-live.md")).toMatch(/^```text\nnpm run admin -- payments payments\.jsonl\n.*\n```$/m);
  });

  test("has nothing in it that is meant for the page", () => {
    for (const [name, text] of texts) {
      if (/\.svg$|^openapi/.test(name)) continue;
      expect(text, name).not.toMatch(/\{% id=|class="source|<!--|html#\/\w+\//);
    }
  });

  test("has in the reference every operation with its statuses, and every component", () => {
    const reference = textOf("reference.md");
    const blocks = [...reference.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = ""]) =>
      parse(block),
    );
    for (const { document, operations } of [readContract("openapi"), readContract("sandbox")]) {
      for (const { id, path, method, statuses } of operations) {
        const [, part = ""] = reference.split(`### ${site.findOperation(id).summary}\n\n`);
        const [, block = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(part) ?? [];
        expect(part.split("\n")[0]).toBe(`\`${method} ${path}\``);
        expect(Object.keys(parse(block).responses).map(Number)).toEqual(statuses);
      }
      for (const [kind, parts] of Object.entries(document.components as object)) {
        expect(blocks).toContainEqual({ components: { [kind]: parts } });
      }
    }
  });
});
