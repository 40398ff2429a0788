import { readFileSync } from "node:fs";
import { headingsOf } from "../document/headings.ts";

/** The numbered headings of one Markdown file, which sources point at. */
export type Headings = {
  /** Path of the file as configured, for messages. */
  file: string;
  ids: ReadonlySet<string>;
  /** Why there are no ids. */
  violation?: string;
};

/** The form of an id, and one for messages. */
export type IdForm = { pattern: RegExp; example: string };

/** Reads `### <id> Title` headings. A file without them is a violation, which the linter reports. */
export function readHeadings(path: string, file: string, { pattern, example }: IdForm): Headings {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    return {
      file,
      ids: new Set(),
      violation: `${file} cannot be read (${reason}): check the options of this rule.`,
    };
  }
  const numbered = new RegExp(`^(${pattern.source}) \\S`);
  const headings = headingsOf(text).filter(({ level }) => level === 3);
  const ids = new Set(headings.flatMap((heading) => numbered.exec(heading.text)?.[1] ?? []));
  if (ids.size > 0) return { file, ids };
  return {
    file,
    ids,
    violation: `${file} has no heading like "### ${example} Title": check the options of this rule.`,
  };
}

/** The id whose number is closest to the wanted one; the earlier of two that are equally close. */
export function nearestId(wanted: string, ids: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const distance = distanceBetween(numbersOf(wanted), numbersOf(id));
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = id;
  }
  return nearest;
}

/** `2.3` is [2, 3], `D08` is [8, 0], `D08a` is [8, 1]. */
function numbersOf(id: string): [number, number] {
  const [first = "0", second = "0"] = id.match(/\d+|[a-z]$/g) ?? [];
  return [Number(first) || 0, /[a-z]/.test(second) ? second.charCodeAt(0) - 96 : Number(second)];
}

function distanceBetween([a, b]: [number, number], [c, d]: [number, number]): number {
  return Math.abs(a - c) * 1000 + Math.abs(b - d);
}
