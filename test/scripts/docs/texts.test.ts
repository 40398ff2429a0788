import { beforeAll, describe, expect, test } from "vitest";
import { readContract } from "../../../openapi/document/contract.ts";
import { headingsOf } from "../../../openapi/document/headings.ts";
import { readSite, type Site } from "../../../scripts/docs/rendering.ts";
import { renderTexts } from "../../../scripts/docs/texts.ts";

let site: Site;
let texts: Map<string, string>;
beforeAll(async () => {
  site = await readSite();
  texts = renderTexts(site);
});

const textOf = (name: string) => texts.get(name) ?? "";

/** Addresses of links in a text, outside of its code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, address = ""]) => address);
}

/** Each header of each response, read without the code of the site. */
function headersOf(document: unknown, path: string, method: string): [status: string, header: string][] {
  type Response = { $ref?: string; headers?: object };
  type Contract = {
    paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
    components: { responses: Record<string, Response> };
  };
  const { paths, components } = document as Contract;
  return Object.entries(paths[path]?.[method.toLowerCase()]?.responses ?? {}).flatMap(
    ([status, response]) => {
      const { headers = {} } = components.responses[response.$ref?.split("/").at(-1) ?? ""] ?? response;
      return Object.keys(headers).map((name): [string, string] => [status, name]);
    },
  );
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
    const anchors = new Map(
      [...texts].map(([name, text]) => [
        name,
        name.endsWith(".md") ? headingsOf(text).map(({ anchor }) => anchor) : [],
      ]),
    );
    const broken: string[] = [];
    let count = 0;
    for (const [name, text] of texts) {
      if (!name.endsWith(".md")) continue;
      for (const address of linksOf(text)) {
        const [file = "", anchor] = address.split("#");
        if (/^https:\/\//.test(address)) continue;
        count += 1;
        const known = anchors.get(file === "" ? name : file);
        if (!known || (anchor !== undefined && !known.includes(anchor))) broken.push(`${name}: ${address}`);
      }
    }

    expect(broken).toEqual([]);
    expect(count).toBeGreaterThan(500);
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
      expect(text, name).not.toMatch(/\{% id=|class="source|<!--|#\/\w+\//);
    }
  });

  test("has in the reference every operation, field, status, header and example", () => {
    const reference = textOf("reference.md");
    for (const { document, operations } of [readContract("openapi"), readContract("sandbox")]) {
      for (const { id, path, method, statuses, requests, responses } of operations) {
        const [, part = ""] = reference.split(`### ${site.findOperation(id).summary}\n\n`);
        expect(part).toMatch(new RegExp(`^\`${method} ${path.replaceAll(/[{}]/g, "\\$&")}\``));
        const own = part.split("\n### ")[0] ?? "";
        for (const status of statuses) expect(own).toContain(`| ${status} | `);
        for (const [status, name] of headersOf(document, path, method))
          expect(own).toMatch(
            new RegExp(`^\\| \`${name}\` \\| [^|]*\\b${status}\\b[^|]* \\| (always|sometimes) \\| `, "m"),
          );
        for (const { value } of requests) expect(own).toContain(JSON.stringify(value, null, 2));
        for (const { status, value } of responses)
          expect(status < 300 ? own : reference).toContain(JSON.stringify(value, null, 2));
      }
    }
    for (const field of [
      "clientRefefenceId",
      "amount.value",
      "errorDetails.errorCode",
      "existing.originalPaymentId",
    ]) {
      expect(reference).toContain(`| \`${field}`);
    }
  });
});
