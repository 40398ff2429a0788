import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readContract } from "../../../openapi/document/contract.ts";
import { defineProof } from "../../../scripts/command/command.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { callsOf } from "../../../scripts/docs/reference/calls.ts";
import { type Sample, samplesOf } from "../../../scripts/docs/reference/samples.ts";
import { startServerProcess } from "../../helpers/process.ts";
import { runShell } from "../../helpers/projects.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { check, endChecks, expectSame } from "../support/checks.ts";

type Language = {
  readonly label: Sample["label"];
  /** Fails where the language is not installed. */
  readonly version: string;
  readonly file: string;
  readonly run: string;
};

const LANGUAGES: readonly Language[] = [
  { label: "Go", version: "go version", file: "sample.go", run: "go run sample.go" },
  { label: "Java", version: "java -version", file: "Sample.java", run: "java Sample.java" },
  {
    label: "C#",
    version: "mcs --version",
    file: "Sample.cs",
    run: "mcs -r:System.Net.Http Sample.cs && mono Sample.exe",
  },
  { label: "PHP", version: "php --version", file: "sample.php", run: "php sample.php" },
  { label: "Ruby", version: "ruby --version", file: "sample.rb", run: "ruby sample.rb" },
];

defineProof("samples").parse();
await using sandbox = await startServerProcess();
for (const language of LANGUAGES) await tryLanguage(language);
endChecks();

async function tryLanguage({ label, version, file, run }: Language): Promise<void> {
  await withTempDir(async (folder) => {
    const isInstalled = await runShell(version, folder).then(
      () => true,
      () => false,
    );
    if (!isInstalled) return console.log(`- ${label}: not run, because it is not installed`);
    await sandboxOf(sandbox)("resetSandbox");
    await check(label, async () => {
      const wrong: string[] = [];
      let count = 0;
      for (const contract of [readContract("openapi"), readContract("sandbox")]) {
        for (const call of callsOf(contract.document)) {
          const sample = samplesOf(call).find((one) => one.label === label);
          if (!sample || call.before) continue;
          const source = sample.source.replaceAll("http://127.0.0.1:3000", sandbox.url);
          await writeFile(join(folder, file), source);
          const printed = await runShell(run, folder).catch(String);
          const [status] = contract.operation(call.operationId).statuses;
          if (!printed.startsWith(`${status} `)) wrong.push(`${call.operationId}: ${printed}`);
          count += 1;
        }
      }
      expectSame("the list of wrong ones", wrong.join("\n"), "");
      return `${count} samples`;
    });
  });
}
