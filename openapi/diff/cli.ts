#!/usr/bin/env node
import { Command, Option } from "@commander-js/extra-typings";
import { findChanges } from "./diff.ts";
import { LEVELS } from "./law.ts";
import { readDocument } from "./read.ts";
import { countLevels, FORMATS } from "./report.ts";

const program = new Command("diff")
  .description(
    "Compares two OpenAPI documents, and rates each change by whom it affects. Exits with 1 when one is as severe as --fail-on says, with 2 when nothing could be compared.",
  )
  .argument("<files...>", "the document before and the one after; with --from, only the one after")
  .option("--from <git:revision>", "take the one before from a revision of git, such as git:main")
  .addOption(new Option("--format <format>", "how to print").choices(Object.keys(FORMATS)).default("text"))
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
  const changes = findChanges(readDocument(first, revision), readDocument(second ?? first));
  console.log(FORMATS[format as keyof typeof FORMATS](changes));
  if (format === "text") console.log(changes.length === 0 ? "No change." : countLevels(changes));
  const least = [...LEVELS].indexOf(failOn as (typeof LEVELS)[number]);
  if (least >= 0 && changes.some(({ level }) => LEVELS.indexOf(level) >= least)) process.exitCode = 1;
} catch (error) {
  console.error(`Can't compare: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 2;
}
