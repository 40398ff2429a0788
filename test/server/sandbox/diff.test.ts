import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readGenerated } from "../../../openapi/document/read-generated.ts";
import { runProgram } from "../../helpers/process.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";

const FIELD = '"softDescriptor":{';

describe("the command diff of the sandbox", () => {
  const server = useTestServer();
  const folder = forSuite(createTempDir);

  /** Compares a contract of before with that of the sandbox. */
  async function diff(before: string, ...args: string[]) {
    const file = join(folder.path, "contract.json");
    await (before === "" ? rm(file, { force: true }) : writeFile(file, before));
    return runProgram([process.execPath, "server/sandbox/cli.ts", "diff", file, ...args], {
      env: { REFUNDS_SANDBOX_URL: server.url },
    });
  }

  test.each([
    ["no change", (text: string) => text, [], 0, /^The contract is still that of version [\d.]+\.\n$/],
    [
      "a field that is gone",
      (text: string) => text.replace(FIELD, `"channel":{"type":"string"},${FIELD}`),
      [],
      1,
      /^major {2}RefundRequest\.channel: field removed\n(?: {7}.+\n)+\nFrom version ([\d.]+) to \1: 1 major, 0 minor, 0 patch\.\n$/,
    ],
    [
      "new wording, which fails only where all has to",
      (text: string) => text.replace('"summary":"', '"summary":"Once '),
      ["--fail-on", "patch"],
      1,
      /^patch [\s\S]*1 patch\.\n$/,
    ],
  ])("reports %s", async (_name, toBefore, args, code, report) => {
    const exit = await diff(toBefore(JSON.stringify(JSON.parse(readGenerated("openapi.json")))), ...args);

    expect(exit).toMatchObject({ code, stderr: "", stdout: expect.stringMatching(report) });
  });
});
