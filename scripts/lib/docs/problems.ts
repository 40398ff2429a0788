import type { Contract } from "../contract.ts";
import type { Source } from "./badges.ts";
import { mapHeadings } from "./markdown.ts";
import type { Rendering, Site } from "./rendering.ts";

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
 * Adds to each code of the catalogue what the contract knows of it: status, type, the operations that answer it, and its
 * sources. Fails when the catalogue and the contracts do not have the same codes, so that neither gets ahead.
 */
export function fillProblems(body: string, site: Site, { badges }: Rendering): string {
  const sources = new Map([site.published, site.sandbox].flatMap(sourcesOfCodes));
  const written = new Set<string>();
  const filled = mapHeadings(body, ({ level, text }) => {
    const line = `${"#".repeat(level)} ${text}`;
    if (level !== 3) return line;
    const found = sources.get(text);
    if (!found) throw new Error(`docs/problems.md has ${text}, which is no code of a contract.`);
    written.add(text);
    return `${line}\n${[...factsOf(text, site), badges(found)].join(" · ")}\n`;
  });
  const missing = [...sources.keys()].filter((code) => !written.has(code));
  if (missing.length > 0) throw new Error(`docs/problems.md does not explain ${missing.join(", ")}.`);
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
  const published = answersWith(code, site.published);
  // Most problems can answer any call of the sandbox; a list of those says nothing.
  const answers = published.length > 0 ? published : answersWith(code, site.sandbox);
  const [first] = answers;
  if (!first) return ["No operation of the contract answers it"];
  const ids = [...new Set(answers.map(({ id }) => id))];
  const links = ids.map((id) => `[${site.findOperation(id).summary}](operation:${id})`);
  const kind = first.type === undefined ? "a refund that is `TERMINAL_FAILED`" : `\`${first.type}\``;
  return [`**${first.status}**`, kind, links.join(", ")];
}

function answersWith(code: string, { operations }: Contract) {
  return operations.flatMap(({ id, responses }) =>
    responses
      .map(({ value, status }) => ({ id, status, problem: value as ProblemValue }))
      .filter(({ problem }) => problem.errorDetails?.errorCode === code)
      .map(({ problem, ...answer }) => ({ ...answer, type: problem.type })),
  );
}
