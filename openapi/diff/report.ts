import { type Change, LEVELS } from "./law.ts";
import { shorten } from "./schemas.ts";

/** How many changes there are of each level, such as `0 major, 2 minor, 1 patch`. */
export function countLevels(changes: readonly Change[]): string {
  const count = (level: Change["level"]) => changes.filter((one) => one.level === level).length;
  return LEVELS.toReversed()
    .map((level) => `${count(level)} ${level}`)
    .join(", ");
}

/** Why a change has its level: the effect and whom it concerns, where, and a value that shows it. */
function reasonsOf({
  effect,
  direction,
  concerned,
  isAssumed,
  uses: [use, ...others],
  value,
  pointer,
}: Change): string[] {
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  const shown = direction === "request" ? "was accepted, and isn't now" : "was never sent, and can be now";
  return [
    ...(direction
      ? [
          `${effect} for ${concerned} (${direction})${isAssumed ? ", which is assumed: nothing proves or disproves it" : ""}`,
        ]
      : []),
    ...(use === undefined ? [] : [`in ${use}${more}`]),
    ...(value ? [`${shown}: ${shorten(value.is)}`] : []),
    `at ${pointer}`,
  ];
}

/** The changes in a format, the most severe first. */
export const FORMATS = {
  text: (changes: readonly Change[]) =>
    changes
      .map((one) =>
        [`${one.level.padEnd(6)} ${one.location}: ${one.what.join("; ")}`, ...reasonsOf(one)].join(
          "\n       ",
        ),
      )
      .join("\n"),
  markdown: (changes: readonly Change[]) => {
    const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
    const rows = changes.map(
      (one) =>
        `| ${[one.level, one.location, one.what.join("; "), reasonsOf(one).join("; ")].map(cell).join(" | ")} |`,
    );
    return ["| level | where | change | why |", "|---|---|---|---|", ...rows].join("\n");
  },
  json: (changes: readonly Change[]) => JSON.stringify(changes, null, 2),
  junit: (changes: readonly Change[]) => {
    const toXml = (text: string) => text.replaceAll(/[<>&"\n]/g, (one) => `&#${one.charCodeAt(0)};`);
    const cases = changes.map((one) => {
      const failure =
        one.level === "major"
          ? `<failure message="${toXml(one.what.join("; "))}">${toXml(reasonsOf(one).join("\n"))}</failure>`
          : "";
      return `  <testcase classname="${one.level}" name="${toXml(`${one.location}: ${one.what.join("; ")}`)}">${failure}</testcase>`;
    });
    const failures = changes.filter(({ level }) => level === "major").length;
    return [
      `<testsuite name="OpenAPI changes" tests="${changes.length}" failures="${failures}">`,
      ...cases,
      "</testsuite>",
    ].join("\n");
  },
};
