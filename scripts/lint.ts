import { runTogether, type Step } from "./lib/steps.ts";

/** Contract and code, each held to its rules by the tool that knows them. */
export const lintSteps: readonly Step[] = [
  { name: "contract lint", command: "redocly", args: ["lint", "refunds", "sandbox", "scenarios"] },
  { name: "code lint and format", command: "biome", args: ["check", "--error-on-warnings"] },
  {
    name: "import rules",
    command: "depcruise",
    args: ["--config", ".dependency-cruiser.mjs", "server", "client/src", "scripts", "openapi/rules", "test"],
  },
  { name: "dead code", command: "knip", args: ["--treat-config-hints-as-errors"] },
];

if (import.meta.main) {
  const results = await runTogether(lintSteps);
  if (results.some(({ passed }) => !passed)) process.exitCode = 1;
}
