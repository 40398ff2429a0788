/** Writes the results of a kit to the terminal while it runs. */
import { styleText } from "node:util";
import { createProgress } from "../../scripts/shared/progress.ts";
import { summarize } from "../../server/sandbox/exec/junit-and-html.ts";
import { describeFailure, type Report, type Result } from "./json-junit-html.ts";
import type { Listener } from "./run-checks.ts";

export type Stream = NodeJS.WriteStream | NodeJS.WritableStream;

/** In a larger group, only the checks that have not passed are listed. */
const MAX_LISTED = 30;

const MARKS = { passed: ["green", "✓"], failed: ["red", "✗"], "not run": ["dim", "–"] } as const;

/** Writes each check as it ends, by group; on a terminal, the running check is shown below. */
export function createTerminal(stream: Stream): Required<Listener> & {
  /** Writes the last group, then these lines and the numbers of outcomes. */
  end(report: Report, summary: readonly string[]): void;
} {
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream });
  const progress = createProgress(stream);
  let group: Result[] = [];

  const line = ({ outcome, name, reason }: Result) => {
    const [color, mark] = MARKS[outcome];
    const note = reason === undefined ? "" : paint("dim", ` (not run: ${reason})`);
    return `  ${paint(color, mark)} ${outcome === "not run" ? paint("dim", name) : name}${note}`;
  };
  const details = (result: Result) => [
    paint("dim", `      ${result.id}`),
    ...describeFailure(result).map((text) => `      ${text}`),
  ];
  const endGroup = () => {
    const [first] = group;
    if (!first) return;
    const many = group.length > MAX_LISTED;
    const passed = group.filter(({ outcome }) => outcome === "passed").length;
    const listed = many ? group.filter(({ outcome }) => outcome !== "passed") : group;
    const lines = listed.flatMap((result) => [line(result), ...(result.failure ? details(result) : [])]);
    const summary = many && passed > 0 ? [`  ${paint("green", "✓")} ${passed} checks`] : [];
    progress.clear();
    stream.write(`\n${[paint("bold", first.group), ...summary, ...lines].join("\n")}\n`);
    group = [];
  };

  return {
    onStart: (check, position, count) => {
      if (group[0] && group[0].group !== check.group) endGroup();
      progress.show(`  ${position}/${count} ${check.group}: ${check.name}`);
    },
    onResult: (result) => void group.push(result),
    end: (report, summary) => {
      endGroup();
      const options = new Set(report.results.flatMap(({ missing }) => missing));
      const lines = [
        ...(options.size > 0 ? [`To run what was not run, give ${[...options].join(", ")}.`] : []),
        ...(report.warnings ?? []).map((text) => `Warning: ${text}`),
        ...summary,
        summarize(report.results),
      ];
      stream.write(`\n${lines.join("\n")}\n`);
    },
  };
}
