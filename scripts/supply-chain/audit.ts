import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { defineProof } from "../command/command.ts";
import { ROOT } from "../command/root.ts";

/** An advisory that was examined and found harmless here, and the day on which it must be examined again. */
type Accepted = {
  readonly advisory: string;
  readonly package: string;
  readonly reason: string;
  readonly until: string;
};

type Finding = {
  readonly name: string;
  readonly url: string;
  readonly severity: string;
  readonly title: string;
};
type Report = {
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (Finding | string)[] }>>;
  readonly message?: string;
};

const { accepted: file } = defineProof("audit")
  .option("--accepted <file>", "the accepted advisories", join(ROOT, ".ci/accepted-advisories.json"))
  .parse()
  .opts();

const accepted = JSON.parse(await readFile(file, "utf8")) as Accepted[];
const report = await readReport();
if (!report.vulnerabilities) {
  process.stdout.write(`Not run: the registry has no advisories (${report.message ?? "no response"}).\n`);
} else {
  const findings = findingsOf(report.vulnerabilities);
  const today = new Date().toISOString().slice(0, 10);
  const isAccepted = ({ name, url }: Finding) =>
    accepted.some((one) => one.package === name && url.endsWith(`/${one.advisory}`) && one.until >= today);
  const open = findings.filter((finding) => !isAccepted(finding));
  for (const { name, severity, title, url } of open)
    process.stdout.write(`${name}: ${severity}: ${title} ${url}\n`);
  process.stdout.write(`${findings.length} advisories, ${findings.length - open.length} accepted\n`);
  if (open.length > 0) process.exitCode = 1;
}

/**
 * npm exits with 1 both for findings and for a registry that does not respond, and its output says which. A registry that
 * has no advisories may also respond with a page, or never.
 */
async function readReport(): Promise<Report> {
  const child = spawn("npm", ["audit", "--json", "--package-lock-only"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 120_000,
  });
  const output = await text(child.stdout);
  try {
    return JSON.parse(output) as Report;
  } catch {
    return {};
  }
}

/** Each advisory once; packages that are only affected through another package refer to that one. */
function findingsOf(vulnerabilities: NonNullable<Report["vulnerabilities"]>): Finding[] {
  const findings = Object.values(vulnerabilities).flatMap(({ via }) =>
    via.filter((one): one is Finding => typeof one !== "string"),
  );
  return [...new Map(findings.map((finding) => [`${finding.name} ${finding.url}`, finding])).values()];
}
