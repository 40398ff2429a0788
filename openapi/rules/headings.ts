import { readFileSync } from "node:fs";
import { headingsOf } from "../document/headings.ts";

/** The numbered headings of one Markdown file, which sources point at. */
export type Headings = {
  /** Path of the file as configured, for messages. */
  file: string;
  ids: ReadonlySet<string>;
};

/** Reads `### <id> Title` headings with ids of a form. Throws when there is no such file. */
export function readHeadings(path: string, file: string, form: RegExp): Headings {
  const numbered = new RegExp(`^(${form.source}) \\S`);
  const headings = headingsOf(readFileSync(path, "utf8")).filter(({ level }) => level === 3);
  return { file, ids: new Set(headings.flatMap(({ text }) => numbered.exec(text)?.[1] ?? [])) };
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
