import type { MutationReport } from "./run.ts";

/** How many tables a survivor's line names. */
const MAX_NAMED = 4;

/** The report in words, one finding a line. */
export function renderReport(report: MutationReport): string {
  const { constraints, calls, mutants, killed, equivalents, survivors, errors } = report;
  const kills = Object.values(killed).reduce((sum, count) => sum + count, 0);
  const by = Object.entries(killed).map(([name, count]) => `${count} by ${name}`);
  return [
    `constraints found: ${constraints}`,
    `requests tried: ${calls} of the table on mutants`,
    `mutants made: ${mutants}`,
    `killed: ${kills}${by.length > 0 ? ` (${by.join(", ")})` : ""}`,
    `equivalent, each listed with its reason: ${equivalents.length}`,
    `survivors: ${survivors.length}`,
    ...survivors.map(({ name, missed }) => `  survived: ${name}\n    missed by the ${listed(missed)}`),
    ...errors.map((error) => `  wrong: ${error}`),
  ].join("\n");
}

function listed(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).join(", ");
  return names.length > MAX_NAMED ? `${named} and ${names.length - MAX_NAMED} more` : named;
}
