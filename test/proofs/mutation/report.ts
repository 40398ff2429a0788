import type { MutationReport } from "./run.ts";

/** How many tables a survivor's line names. */
const MAX_NAMED = 4;

/** The report in words, one finding a line. */
export function renderReport(report: MutationReport): string {
  const { constraints, calls, mutants, killed, equivalents, survivors, errors } = report;
  const kills = Object.values(killed).reduce((sum, count) => sum + count, 0);
  return [
    `constraints found: ${constraints}`,
    `requests tried: ${calls} of the table on mutants`,
    `mutants made: ${mutants}`,
    `killed: ${kills}${byPart(killed)}`,
    `equivalent, each listed with its reason: ${equivalents.length}`,
    `survivors: ${survivors.length}`,
    ...survivors.map(({ name, missed }) => `  survived: ${name}\n    missed by the ${listed(missed)}`),
    ...errors.map((error) => `  wrong: ${error}`),
  ].join("\n");
}

function byPart(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} by ${name}`);
  return parts.length > 0 ? ` (${parts.join(", ")})` : "";
}

function listed(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).join(", ");
  return names.length > MAX_NAMED ? `${named} and ${names.length - MAX_NAMED} more` : named;
}
