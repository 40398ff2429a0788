/** `npm run lint`: style, dead code, rules for imports, words, and the contract. */
import { defineCommand } from "../shared/define-command.ts";
import { REDOCLY } from "../shared/redocly.ts";
import { runTogether, type Step } from "../shared/run-steps.ts";

/** Texts for the word list in .textlintrc.json; not the interface, which repeats the wording of the requirement. */
const PROSE = [
  "{README,SECURITY,CHANGELOG}.md",
  "{client,openapi/diff,server,server/sandbox,test/conformance,test/certify}/README.md",
  "openapi/{CHANGELOG,info,sandbox/info}.md",
  "docs/{index,states,problems,decisions,performance}.md",
  "docs/{guides,operators}/*.md",
];

export const lintSteps: readonly Step[] = [
  { name: "contract lint", command: "node", args: [...REDOCLY, "lint"] },
  { name: "code lint and format", command: "biome", args: ["check", "--error-on-warnings"] },
  {
    name: "import rules",
    command: "depcruise",
    args: [
      "--config",
      ".dependency-cruiser.mjs",
      ...["server", "client/src", "scripts", "openapi/rules", "openapi/document", "openapi/diff", "test"],
    ],
  },
  { name: "prose", command: "textlint", args: PROSE },
  { name: "dead code", command: "knip", args: ["--treat-config-hints-as-errors"] },
];

if (import.meta.main) {
  defineCommand(
    "lint",
    "Checks contract, code, import rules, prose and dead code, each by its own tool.",
  ).parse();
  const results = await runTogether(lintSteps);
  if (results.some(({ outcome }) => outcome === "failed")) process.exitCode = 1;
}
