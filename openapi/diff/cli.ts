#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import type { Change } from "./severity.ts";

enableCompileCache(); // what is imported below takes half of the time for small documents
const { Command, Option } = await import("@commander-js/extra-typings");
const { findChanges } = await import("./diff.ts");
const { LEVELS } = await import("./severity.ts");
const { readDocument } = await import("./read-document.ts");
const { countLevels, FORMATS, reasonsOf, titleOf } = await import("./report.ts");

async function toJUnit(changes: readonly Change[]): Promise<string> {
  const { default: junit } = await import("junit-report-builder"); // loading it takes time
  const builder = (junit as unknown as typeof junit.default).newBuilder(); // its types are those of CommonJS
  const suite = builder.testSuite().name("OpenAPI changes");
  for (const one of changes) {
    const test = suite.testCase().className(one.level).name(titleOf(one));
    // The package would escape only the first end of a CDATA section.
    const reasons = reasonsOf(one).join("\n").replaceAll("]]>", "]] >");
    if (one.level === "major") test.failure(one.what.join("; ")).stacktrace(reasons);
  }
  return builder.build();
}
const formats = { ...FORMATS, junit: toJUnit };

const program = new Command("diff")
  .description(
    "Compares two OpenAPI documents, and rates each change by whom it affects. Exits with 1 when one is as severe as --fail-on says, with 2 when nothing could be compared.",
  )
  .argument("<files...>", "the document before and the one after; with --from, only the one after")
  .option("--from <git:revision>", "take the one before from a revision of git, such as git:main")
  .addOption(new Option("--format <format>", "how to print").choices(Object.keys(formats)).default("text"))
  .addOption(
    new Option("--fail-on <level>", "what to fail for").choices([...LEVELS, "never"]).default("major"),
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const { from, format, failOn } = program.opts();
const [first = "", second] = program.args;
try {
  const revision = from?.replace(/^git:/, "");
  if ((revision === undefined) === (second === undefined))
    throw new Error("Name two documents, or one and --from git:<revision>.");
  const paths = [first, second ?? first] as [string, string];
  const changes = findChanges(readDocument(paths[0], revision), readDocument(paths[1]), paths);
  console.log(await formats[format as keyof typeof formats](changes));
  if (format === "text") console.log(changes.length === 0 ? "No change." : countLevels(changes));
  const least = [...LEVELS].indexOf(failOn as (typeof LEVELS)[number]);
  if (least >= 0 && changes.some(({ level }) => LEVELS.indexOf(level) >= least)) process.exitCode = 1;
} catch (error) {
  console.error(`Can't compare: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}
