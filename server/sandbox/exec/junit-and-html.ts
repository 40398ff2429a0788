import junit from "junit-report-builder";

/** The results of checks as JUnit XML; `name` is that of the command. */
export function toJunit(suites: Suites, name: string): string {
  // The package exports the builder itself, although its types declare it as `default`.
  const builder = (junit as unknown as typeof junit.default).newBuilder().name(name);
  for (const [group, cases] of suites) {
    const suite = builder.testSuite().name(group);
    suite.time(cases.reduce((sum, { seconds }) => sum + seconds, 0));
    for (const { id, name: title, outcome, seconds, failure = "", details = [] } of cases) {
      const test = suite
        .testCase()
        .className(`${name}.${id.split(".")[0]}`)
        .name(`${id}: ${title}`);
      test.time(seconds);
      const text = details.map(printable).join("\n");
      // The package would escape only the first end of a CDATA section.
      if (outcome === "failed") test.failure(printable(failure)).stacktrace(text.replaceAll("]]>", "]] >"));
      if (outcome === "not run") test.skipped().standardOutput(text);
    }
  }
  return builder.build();
}

/** The result of one check, as reports show it. */
export type Case = {
  readonly id: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "not run";
  readonly seconds: number;
  /** What is wrong, in a sentence. */
  readonly failure?: string;
  /** The lines that explain the failure, or the reason why the check was not run. */
  readonly details?: readonly string[];
  /** What requires it. */
  readonly source?: string;
};

/** Results by the name of their group, in the order of the report. */
export type Suites = ReadonlyMap<string, readonly Case[]>;

export function countOutcomes(cases: readonly Pick<Case, "outcome">[]) {
  const count = (outcome: Case["outcome"]) => cases.filter((result) => result.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), notRun: count("not run") };
}

/** Such as `7 passed, 1 failed, 0 not run`. */
export function summarize(cases: readonly Pick<Case, "outcome">[]): string {
  const { passed, failed, notRun } = countOutcomes(cases);
  return `${passed} passed, ${failed} failed, ${notRun} not run`;
}

/** Removes control characters but line breaks: text of a service or of tests could move a terminal's cursor, or break an XML file. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]|[\p{Cs}\uFFFE\uFFFF]/gu, "�");
}

/** Colours that are readable on light and dark. Each outcome is also a word, for readers who see no colours. */
const STYLE = `
:root { color-scheme: light dark; --passed: light-dark(#1a7f37, #4ac26b); --failed: light-dark(#b3261e, #ff8a80); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { display: grid; grid-template-columns: 5.5rem 1fr; gap: 0 1rem; padding: .35rem 0; break-inside: avoid; }
.passed { color: var(--passed); } .failed { color: var(--failed); } small { display: block; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; }
@media (max-width: 40rem) { section { grid-template-columns: 1fr; } }
@media print { :root { color-scheme: light; } body { margin: 0; max-width: none; } h2 { break-after: avoid; } }
`;

/** The results as one page without scripts or other files: to read, to print, or to send to the service. */
export function toPage(suites: Suites, title: string, notes: readonly string[]): string {
  const all = [...suites.values()].flat();
  const failed = all.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
  const groups = [...suites].map(
    ([name, cases]) => `<h2>${toText(name)}</h2>\n${cases.map(toSection).join("")}`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${toText(title)}</title>
<style>${STYLE}</style>
<h1>${toText(title)}</h1>
<p><strong>${summarize(all)}</strong></p>
${failed.length === 0 ? "" : `<p class="failed">failed: ${toText(failed.join(", "))}</p>\n`}<pre>${toText(notes.join("\n"))}</pre>
${groups.join("")}</html>
`;
}

function toSection({ id, name, outcome, failure, details = [], source = "" }: Case): string {
  const text = [...(failure === undefined ? [] : [failure]), ...details].join("\n");
  const shown = text === "" ? "" : `<pre>${toText(text)}</pre>`;
  return `<section><b class="${outcome.replace(" ", "-")}">${outcome}</b><div>${toText(name)}
<small>${toText([id, source].filter(Boolean).join(": "))}</small>${shown}</div></section>\n`;
}

function toText(text: string): string {
  return printable(text).replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
