import { toAnchor } from "../../openapi/document/headings.ts";
import { type Parts, paragraphOf, partsOf, splitSections, toMarkdown } from "./markdown.ts";

/** A decision, as in the JSON for programs and in the table at the top of the page. */
export type Decision = {
  readonly id: string;
  readonly title: string;
  /** What the interface leaves open or contradicts. */
  readonly question: string;
  /** The first sentence of what was decided. */
  readonly decision: string;
  /** The first release that includes it. */
  readonly since: string;
  readonly anchor: string;
  /** The full text, in Markdown. */
  readonly text: string;
};

/** The decisions up to this number came with the first release; a later one says so by `**Since:**`, or is unreleased. */
const LAST_OF_FIRST_RELEASE = 30;

/** Reads the decisions of docs/decisions.md, in the order of the file. Throws for one without a question or a decision. */
export function readDecisions(parts: Parts): Decision[] {
  const chapters = splitSections(parts, 2).sections;
  const sections = chapters.flatMap((chapter) => splitSections(chapter.parts, 3).sections);
  return sections.flatMap((section) => {
    const [, id, number, title] = /^(D(\d{2})[a-z]?) (.+)$/.exec(section.title) ?? [];
    if (id === undefined || title === undefined) return [];
    const text = toMarkdown(section.parts).trim();
    const [question, decision, since] = ["Open", "Decided", "Since"].map((name) => paragraphOf(text, name));
    if (!question || !decision)
      throw new Error(`${id} in docs/decisions.md lacks **Open:** or **Decided:**.`);
    const first = Number(number) <= LAST_OF_FIRST_RELEASE ? "1.0.0" : "unreleased";
    return [
      {
        id,
        title,
        question: question.replace(/\.$/, ""),
        decision: firstSentence(decision),
        since: since ?? first,
        anchor: toAnchor(section.title),
        text,
      },
    ];
  });
}

/** The table in which readers look up a decision. */
function tableOfDecisions(decisions: readonly Decision[]): string {
  const rows = decisions.map(
    ({ id, anchor, question, decision, since }) =>
      `| [${id}](#${anchor}) | ${capitalize(question)} | ${capitalize(decision)} | ${since} |`,
  );
  return ["| number | question | decision | since |", "|---|---|---|---|", ...rows].join("\n");
}

/** Puts the table before the decisions. */
export function addTable(parts: Parts): Parts {
  const { before } = splitSections(parts, 2);
  return [...before, ...partsOf(tableOfDecisions(readDecisions(parts))), ...parts.slice(before.length)];
}

function firstSentence(text: string): string {
  const [sentence = text] = /^.*?[.:](?= [A-Z`]|$)/.exec(text) ?? [];
  return sentence.replace(/[.:]$/, "").replaceAll("|", "\\|");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
