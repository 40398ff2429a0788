/** Finds the title and address of a clause or decision, such as D09. */
import { readFileSync } from "node:fs";

/** A clause of the interface or a decision, as a report names it. */
export type Source = {
  readonly id: string;
  readonly kind: "clause" | "decision";
  readonly title: string;
  /** The text of a clause, on one line; a decision is too long to be repeated. */
  readonly text: string;
};

const DOCS = new URL("../../docs/", import.meta.url);

/** Reads clauses and decisions from the headings of the docs. The function throws for an unknown id. */
export function readSources(): (id: string) => Source {
  const clauses = sections("interface.md", /^### (\d+\.\d+) (.+)$/m, "clause");
  const decisions = sections("decisions.md", /^### (D\d+[a-z]?) (.+)$/m, "decision");
  const sources = new Map([...clauses, ...decisions].map((source) => [source.id, source]));
  return (id) => {
    const source = sources.get(id);
    if (!source) throw new Error(`neither docs/interface.md nor docs/decisions.md has a heading ${id}`);
    return source;
  };
}

function sections(file: string, heading: RegExp, kind: Source["kind"]): Source[] {
  const text = readFileSync(new URL(file, DOCS), "utf8");
  return text.split(/^(?=#)/m).flatMap((section) => {
    const [, id, title] = heading.exec(section) ?? [];
    if (id === undefined || title === undefined) return [];
    const decided = section
      .slice(section.indexOf("\n"))
      .replaceAll(/<!--.*?-->/gs, "")
      .trim()
      .replaceAll(/\s+/g, " ");
    // Links keep their text.
    return {
      id,
      kind,
      title,
      text: kind === "clause" ? decided.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1") : "",
    };
  });
}

/** `clause 7.5 Idempotency: When …`. */
export function describeSource({ id, kind, title, text }: Source): string {
  return `${kind} ${id} ${title}${text && `: ${text}`}`;
}
