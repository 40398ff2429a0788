import type { RootContent } from "mdast";
import { toString as textOf } from "mdast-util-to-string";
import type { Contract, Source } from "../../openapi/document/contract.ts";
import { fillChangelog } from "./changes.ts";
import { addTable } from "./decisions.ts";
import { type Parts, partsOf } from "./markdown.ts";
import type { Page } from "./pages.ts";
import { type Rendering, renderLinks, type Site } from "./rendering.ts";
import { fillStates } from "./states.ts";

/** The text of a page in one form of the site, including the parts that are made from the contract. */
export function renderPage(site: Site, page: Page, rendering: Rendering): RootContent[] {
  return renderLinks(site, page.file, fillPage(site, page, rendering), rendering);
}

/** The text of a page, including the parts that are made from the contract. */
export function fillPage(site: Site, { slug, parts }: Page, rendering: Rendering): Parts {
  if (slug === "decisions") return addTable(parts);
  if (slug === "problems") return fillProblems(parts, site, rendering);
  if (slug === "states") return fillStates(parts, site.published.document, rendering.badges);
  if (slug !== "changelog") return parts;
  return fillChangelog(parts, site.releases);
}

type ErrorCodeSchema = {
  readonly description: string;
  readonly enum?: readonly string[];
  readonly "x-enum-source": Readonly<Record<string, readonly Source[]>>;
};

type ProblemValue = {
  readonly type: string;
  readonly status: number;
  readonly errorDetails: { readonly errorCode: string };
};

/**
 * Adds the contract's statements to each code of the catalogue: status, type, the operations that respond with it, and its
 * sources. Throws when the catalogue and the contracts do not have the same codes, so that both stay in step.
 */
function fillProblems(parts: Parts, site: Site, { badges }: Rendering): Parts {
  const sources = new Map([site.published, site.sandbox].flatMap(sourcesOfCodes));
  const missing = new Set(sources.keys());
  const filled = parts.flatMap((part) => {
    if (part.type !== "heading" || part.depth !== 3) return [part];
    const code = textOf(part);
    const found = sources.get(code);
    if (!found) throw new Error(`docs/problems.md has ${code}, which is no code of a contract.`);
    missing.delete(code);
    return [part, ...partsOf([...factsOf(code, site), badges(found)].join(" · "))];
  });
  if (missing.size > 0) throw new Error(`docs/problems.md does not explain ${[...missing].join(", ")}.`);
  return filled;
}

/** Every code of a contract, wherever its schemas list one. */
function sourcesOfCodes({ document }: Contract): [string, readonly Source[]][] {
  const schemas = Object.values(
    (document.components as { schemas: Record<string, { properties?: object }> }).schemas,
  );
  return schemas.flatMap(({ properties }) => {
    const code = (properties as { errorCode?: object } | undefined)?.errorCode;
    if (!code) return [];
    if ("const" in code) return [[String(code.const), (code as { "x-source"?: Source[] })["x-source"] ?? []]];
    return Object.entries((code as ErrorCodeSchema)["x-enum-source"]);
  });
}

function factsOf(code: string, site: Site): string[] {
  const { status, type, operations } = factsAbout(code, site);
  if (status === null) return ["No operation of the contract responds with it"];
  const links = operations.map((id) => `[${site.findOperation(id).summary}](operation:${id})`);
  const kind = type === null ? "a refund that is `TERMINAL_FAILED`" : `\`${type}\``;
  return [`**${status}**`, kind, links.join(", ")];
}

/** The contract's statements about an error code. The status is null for a code that no operation responds with. */
export function factsAbout(
  code: string,
  site: Site,
): { status: number | null; type: string | null; operations: string[] } {
  const published = responsesWith(code, site.published);
  // Most problems can come from any operation of the sandbox; a list of those says nothing.
  const responses = published.length > 0 ? published : responsesWith(code, site.sandbox);
  const [first] = responses;
  return {
    status: first?.status ?? null,
    type: first?.type ?? null,
    operations: [...new Set(responses.map(({ id }) => id))],
  };
}

function responsesWith(code: string, { operations }: Contract) {
  return operations.flatMap(({ id, responses }) =>
    responses
      .map(({ value, status }) => ({ id, status, problem: value as ProblemValue }))
      .filter(({ problem }) => problem.errorDetails?.errorCode === code)
      .map(({ problem, ...response }) => ({ ...response, type: problem.type })),
  );
}
