import { countOutcomes, describeFailure, type Report, type Result } from "../reporting/report.ts";
import { describeSource } from "../reporting/sources.ts";

/** Colours that are readable in both schemes, and without them: each outcome is also a word. */
const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --dim: light-dark(#57606a, #9aa4af);
  --passed: light-dark(#1a7f37, #4ac26b); --failed: light-dark(#b3261e, #ff8a80); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2rem; border-bottom: 1px solid var(--line); }
.check { display: grid; grid-template-columns: 5.5rem 1fr; gap: 0 1rem; padding: .35rem 0; break-inside: avoid; }
.check > :first-child { font-weight: 600; } .passed { color: var(--passed); } .failed { color: var(--failed); }
.not-run, .note { color: var(--dim); } .note { font-size: .875rem; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; border-left: 3px solid var(--failed);
  margin: .5rem 0; padding-left: .75rem; }
@media (max-width: 40rem) { .check { grid-template-columns: 1fr; } }
@media print { :root { color-scheme: light; background: #fff; color: #000; } body { margin: 0; max-width: none; }
  h2 { break-after: avoid; } }
`;

/** The report as one page without scripts or other files: to read, to print, or to send to the service. */
export function toHtml(report: Report, title: string): string {
  const { passed, failed, notRun } = countOutcomes(report);
  const failures = report.results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
  const groups = [...Map.groupBy(report.results, ({ group }) => group)];
  const body = groups.map(
    ([group, results]) => `<h2>${toText(group)}</h2>\n${results.map(toCheck).join("\n")}`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${toText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${toText(title)}</h1>
<p><strong>${passed} passed, ${failed} failed, ${notRun} not run</strong></p>
${failures.length === 0 ? "" : `<p class="failed">failed: ${failures.map(toText).join(", ")}</p>\n`}<p class="note">${toText(report.url)}<br>
${report.startedAt.toISOString().slice(0, 16).replace("T", " ")} UTC, in ${report.seconds.toFixed(1)} s</p>
${body.join("\n")}
</body>
</html>
`;
}

function toCheck(result: Result): string {
  const { id, name, outcome, reason, sources } = result;
  const notes = [
    `${id}: ${sources.map((source) => describeSource({ ...source, text: "" })).join("; ")}`,
    ...(reason === undefined ? [] : [`not run: ${reason}`]),
  ];
  const failure = outcome === "failed" ? `<pre>${toText(describeFailure(result).join("\n"))}</pre>` : "";
  const lines = notes.map((note) => `<div class="note">${toText(note)}</div>`).join("");
  const outcomeCell = `<div class="${outcome.replace(" ", "-")}">${outcome}</div>`;
  return `<div class="check">${outcomeCell}<div>${toText(name)}${lines}${failure}</div></div>`;
}

function toText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
