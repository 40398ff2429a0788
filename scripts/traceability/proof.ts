import type { Mark } from "./marks.ts";

/** A test that ran, with its file and its name, which begins with those of the groups around it. */
export type RanTest = { readonly file: string; readonly name: string; readonly state: string };

/** One line for each mark without a test that ran and passed; for those in files that did not run only after a `whole` run. */
export function findUnproven(
  tests: readonly RanTest[],
  marks: readonly Mark[],
  { whole }: { readonly whole: boolean },
): string[] {
  const ofFiles = Map.groupBy(tests, ({ file }) => file);
  const unproven = marks.filter((mark) => {
    const ran = ofFiles.get(mark.file);
    return ran ? !ran.some((test) => proves(test, mark)) : whole;
  });
  return unproven.map(
    ({ kind, id, file, line, titles }) =>
      `${kind} ${id} is marked at ${file}:${line}, but no such test passed: ${titles.join(" > ")}`,
  );
}

/** Whether a test is the marked one, or in the marked group. In a written title, `…` stands for any value, which no group is. */
function proves({ name, state }: RanTest, { titles, group }: Mark): boolean {
  const parts = titles
    .join(" > ")
    .split("…")
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return (
    state === "passed" && new RegExp(`^${parts.join("(?:(?! > )[^])*")}${group ? " > " : "$"}`).test(name)
  );
}
