import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withTempDir } from "../files.ts";
import { runRedocly } from "../redocly.ts";
import type { Finding, Level } from "./change.ts";

type Place = { readonly pointer: string; readonly value?: unknown };
type Report = {
  readonly changes: readonly {
    readonly path: string;
    readonly kind: "added" | "removed" | "modified";
    readonly impact: Level;
    readonly property?: string;
    readonly verdicts: readonly { readonly message: string }[];
    readonly base?: Place;
    readonly revision?: Place;
  }[];
};

/** What `redocly diff` finds between two files. Fails when it can't read one of them. */
export async function runRedoclyDiff(from: string, to: string): Promise<Finding[]> {
  const report = await withTempDir(async (folder): Promise<Report> => {
    const [config, output] = [join(folder, "redocly.yaml"), join(folder, "diff.json")];
    // Under a configuration that names no rules for changes, such as the project's own, it rates none of them major.
    await writeFile(config, "extends: [diff-recommended]\n");
    await runRedocly([
      "diff",
      from,
      to,
      "--config",
      config,
      "--format",
      "json",
      "--fail-on",
      "none",
      "--output",
      output,
    ]);
    return JSON.parse(await readFile(output, "utf8"));
  });
  return report.changes
    .filter(({ path, property }) => !(path === "#/info" && property === "version")) // what it is held against
    .map(({ path, kind, impact, property, verdicts, base, revision }) => {
      // Something that was taken out is no longer there to be pointed at.
      const place =
        property !== undefined && revision?.value === undefined ? (base ?? revision) : (revision ?? base);
      const said = verdicts.map(({ message }) => message.replace(/\.$/, "")).join("; ");
      const what = said || [property, kind].filter((word) => word !== undefined).join(" ");
      return { pointer: (place?.pointer ?? path).replace(/^#/, ""), use: "", what, level: impact };
    });
}
