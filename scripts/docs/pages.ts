/** Prepares the Markdown pages for the site: tables from the contract, and links to files elsewhere in the project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { locationName } from "../../openapi/diff/severity.ts";
import { isNode, type Node, walk } from "../../openapi/document/document-node.ts";
import { headingsOf } from "../../openapi/document/markdown-headings.ts";
import { type Contract, readContract, type Source } from "../../openapi/document/read-contract.ts";
import { LICENCES_FILE, licencesOf } from "../shared/licences.ts";
import { ROOT } from "../shared/root.ts";
import { fillsOf, findHeading, findOperation, idOf, referencePage } from "./addresses.ts";

/** Files outside of `docs/`, and the pages that include them. */
const INCLUDED: Readonly<Record<string, string>> = {
  "client/README.md": "docs/client.md",
  "openapi/sandbox/info.md": "docs/sandbox-records.md",
  "openapi/extensions.md": "docs/extensions.md",
  "openapi/CHANGELOG.md": "docs/changelog.md",
};

/** Before VitePress reads a page, adds what the contract says, and turns links to files into links to pages. */
export function pagesOfContract() {
  return {
    name: "pages-of-contract",
    enforce: "pre" as const,
    transform(text: string, id: string) {
      const file = relative(ROOT, id);
      return file.endsWith(".md") && file.startsWith("docs/") ? toPage(text, file) : undefined;
    },
    /** The licences of the packages whose modules browsers load. */
    async generateBundle(
      this: { emitFile(file: { type: "asset"; fileName: string; source: string }): string },
      _options: unknown,
      bundle: Readonly<Record<string, { readonly moduleIds?: readonly string[] }>>,
    ) {
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
      const redoc = join(ROOT, "node_modules/@redocly/cli"); // has the notices of all that Redoc is made of
      const source = await licencesOf([...modules, redoc]);
      this.emitFile({ type: "asset", fileName: LICENCES_FILE, source });
    },
  };
}

/** The text of a page. Throws for a link to a file that does not exist, and for a code that only the page or the contract has. */
export function toPage(text: string, file: string): string {
  const filled = FILLED[file]?.(text) ?? text;
  const whole = filled.replaceAll(/<!--\s*@include: (\S+)\s*-->/g, (_, path) => {
    const included = posix.join(dirname(file), path);
    return resolveLinks(readFileSync(join(ROOT, included), "utf8"), included, file);
  });
  return resolveLinks(whole, file, file);
}

/** Puts what each decision decides, in one sentence, where the text has a comment. Throws for a decision that begins with none. */
function fillDecisions(text: string): string {
  const rows = headingsOf(text).flatMap(({ text: title, anchor }) => {
    const [, id, name] = /^(D\d{2}[a-z]?) (.*)/.exec(title) ?? [];
    if (id === undefined) return [];
    const [, section = ""] = text.split(`\n### ${id} `);
    const [paragraph = ""] = (section.split("\n**Decided:** ")[1] ?? "").split("\n\n");
    const [first = ""] = /^.+?\.(?=\s|$)/s.exec(paragraph) ?? [];
    const sentence = first.replaceAll("\n", " ").replace(/^[a-z]/, (letter) => letter.toUpperCase());
    if (!/^\S+ \S+ .*\.$/.test(sentence))
      throw new Error(`docs/decisions.md: ${id} has to begin with one whole sentence after "Decided:".`);
    return [`| [${id}](#${anchor}) ${name} | ${sentence} |`];
  });
  return text.replace("<!-- one line each -->", ["| decision | decided |", "|---|---|", ...rows].join("\n"));
}

const FILLED: Readonly<Record<string, (text: string) => string>> = {
  "docs/decisions.md": fillDecisions,
  "docs/interface.md": fillClauses,
  "docs/problems.md": fillProblems,
  "docs/states.md": fillStates,
};

/** The links of a text that was written in `from` and is shown on the page `to`. */
function resolveLinks(text: string, from: string, to: string): string {
  return text.replaceAll(/(?<!!)\[([^\]]*)\]\(([^)\s:#]+)(?:#([^)\s]+))?\)/g, (link, name, path, anchor) => {
    const target = posix.join(dirname(from), path);
    const here = (file: string) => posix.relative(dirname(to), file) || posix.basename(file);
    const after = anchor === undefined ? "" : `#${anchor}`;
    if (/\.html$/.test(path)) return link;
    if (!existsSync(join(ROOT, target))) throw new Error(`${from} links to ${path}, which does not exist.`);
    if (target.startsWith("openapi/generated/"))
      return `[${name}](${here(`docs/${posix.basename(target)}`)})`;
    if (/^openapi\/.*\.yaml$/.test(target)) return `[${name}](${here(`docs/${addressIn(target, anchor)}`)})`;
    const page = INCLUDED[target] ?? target;
    if (page.startsWith("docs/") && page.endsWith(".md")) return `[${name}](${here(page)}${after})`;
    return name; // a file that the site doesn't have
  });
}

/** Where the reference shows what a link to a file of the contract means: the operation after `#`, if there is one. */
function addressIn(file: string, operationId: string | undefined): string {
  if (operationId !== undefined) return findOperation(operationId).address;
  return referencePage(file.includes("/sandbox/") ? "sandbox" : "openapi");
}

const linkTo = (id: string) => {
  const { title, page, anchor } = findHeading(id);
  return `[${title}](${page}.md#${anchor})`;
};

const DATA = ["example", "examples", "default", "const"];

/** Adds to each clause the elements of the contract that cite it, and the decisions about them and about the clause. */
function fillClauses(text: string): string {
  const cited = citationsIn(readContract("openapi").document);
  return text
    .split(/^(?=##)/m)
    .map((section) => {
      const [, id] = /^### (\d+\.\d+) /.exec(section) ?? [];
      if (id === undefined) return section;
      const elements = cited.filter(({ ids }) => ids.includes(id));
      const [, written = ""] = /<!-- decided: (.*) -->/.exec(section) ?? [];
      const named = [...written.matchAll(/D\d{2}[a-z]?/g)].map(([decision]) => decision);
      const decisions = [...named, ...elements.flatMap(({ ids }) => ids)].filter((one) =>
        one.startsWith("D"),
      );
      const facts = [
        [
          /not\s+shown/.test(section) ? "Filled in the contract by" : "In the contract",
          [...new Set(elements.map(({ name }) => `\`${name}\``))],
        ],
        ["Decisions", [...new Set(decisions)].sort().map(linkTo)],
      ] as const;
      const lines = facts
        .filter(([, list]) => list.length > 0)
        .map(([name, list]) => `- ${name}: ${list.join(", ")}`);
      return `${section.replaceAll(/<!--.*?-->\n/g, "").trimEnd()}\n\n${lines.join("\n")}\n\n`;
    })
    .join("");
}

/** The elements of a document that have sources, with the clauses and decisions that they cite. */
export function citationsIn(document: Node): { name: string; ids: string[] }[] {
  return [...walk(document, DATA)].flatMap(({ path, part }) => {
    const key = path.at(-1);
    const isList =
      Array.isArray(part) &&
      (key === "x-source" || (key === "source" && /x-(transitions|waiting-period)/.test(path.join())));
    const isValue = Array.isArray(part) && path.at(-2) === "x-enum-source";
    if (!isList && !isValue) return [];
    const holder = path.slice(0, isValue ? -2 : -1);
    const row = holder.at(-2) === "x-transitions" ? ` transition ${Number(holder.at(-1)) + 1}` : "";
    const name = locationName(row ? holder.slice(0, -1) : holder);
    const ids = (part as Source[]).flatMap((source) => [idOf(source), ...fillsOf(source)]);
    return [{ name: `${name}${isValue ? ` ${key}` : row}`, ids }];
  });
}

type Transition = { from: string | null; to: string; when: string; source: readonly Source[] };

/** Puts the transitions of the contract where the text has a comment, and the drawing into the page, for its colours. */
function fillStates(text: string): string {
  const { schemas } = readContract("openapi").document.components as {
    schemas: { RefundStatus: { "x-transitions": Transition[] } };
  };
  const rows = schemas.RefundStatus["x-transitions"].map(
    ({ from, to, when, source }, index) =>
      `| ${index + 1} | ${from === null ? "" : `\`${from}\` `}→ \`${to}\` | ${when} (${source.map(idOf).map(linkTo).join(", ")}) |`,
  );
  const drawing = readFileSync(join(ROOT, "docs/states.svg"), "utf8").replace(/<style>.*?<\/style>\n/s, "");
  return text
    .replace("<!-- transitions -->", ["| # | transition | when |", "|---|---|---|", ...rows].join("\n"))
    .replace(/!\[.*\]\(states\.svg\)/, () => `<div>\n${drawing.trim()}\n</div>`);
}

/** Adds to each code its status, its type, and the operations that respond with it. */
function fillProblems(text: string): string {
  const contracts = [readContract("openapi"), readContract("sandbox")];
  const codes = new Set(contracts.flatMap(({ document }) => codesIn(document)));
  const filled = text.replaceAll(/^### ([A-Z_]+)$/gm, (heading, code) => {
    if (!codes.delete(code)) throw new Error(`docs/problems.md has ${code}, which is no code of a contract.`);
    return `${heading}\n${factsAbout(code, contracts)}\n`;
  });
  if (codes.size > 0) throw new Error(`docs/problems.md does not explain ${[...codes].join(", ")}.`);
  return filled;
}

function codesIn(document: Node): string[] {
  return [...walk(document, DATA)].flatMap(({ path, part }) => {
    if (path.at(-1) !== "errorCode" || path.at(-2) !== "properties" || !isNode(part)) return [];
    return "const" in part
      ? [String(part.const)]
      : Object.keys((part["x-enum-source"] as object | undefined) ?? {});
  });
}

type ProblemValue = { readonly type?: string; readonly errorDetails?: { readonly errorCode: string } };

function factsAbout(code: string, contracts: readonly Contract[]): string {
  // Most problems can come from any operation of the sandbox; a list of those says nothing.
  const [found = []] = contracts
    .map(({ operations }) =>
      operations.flatMap(({ id, responses }) =>
        responses
          .map(({ value, status }) => ({ id, status, problem: value as ProblemValue }))
          .filter(({ problem }) => problem.errorDetails?.errorCode === code),
      ),
    )
    .filter(({ length }) => length > 0);
  const [first] = found;
  if (!first) return "No operation of the contract responds with it.\n";
  const links = [...new Set(found.map(({ id }) => id))].map((id) => {
    const { title, address } = findOperation(id);
    return `[${title}](${address})`;
  });
  const kind = first.problem.type ? `\`${first.problem.type}\`` : "a refund that is `TERMINAL_FAILED`";
  return [`**${first.status}**`, kind, links.join(", ")].join(" · ");
}
