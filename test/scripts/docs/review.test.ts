import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { diffContracts } from "../../../scripts/diff/compare.ts";
import { kindOf, locationOf, routeOf } from "../../../scripts/docs/changes.ts";
import { sharedBrowser } from "../../helpers/browser.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { goTo, headingOf, watch } from "./helpers/site.ts";

const ROOT = new URL("../../../", import.meta.url);
const CONTRACT = new URL("openapi/generated/openapi.yaml", ROOT);

/** The contract with a tighter limit, a new field, and without a header. */
const changed = (await readFile(CONTRACT, "utf8"))
  .replace("maxLength: 80", "maxLength: 60")
  .replace(/^( +)softDescriptor:\n/m, "$1reason:\n$1  type: string\n$1  maxLength: 20\n$1softDescriptor:\n")
  .replace(/^ +Retry-After:\n +\$ref: .*\n/m, "");

let folder: string;
let contract: string;
beforeAll(async () => {
  folder = await makeTempDir();
  contract = join(folder, "changed.yaml");
  await writeFile(contract, changed);
  return () => rm(folder, { recursive: true });
});

describe("the review of a change", () => {
  test("says what was added, changed and removed, how severe that is, and where the reference shows it", async () => {
    const base = new URL("openapi/released/1.0.0.yaml", ROOT).pathname;
    const { changes } = await diffContracts(base, contract);
    const pair = { base: parse(await readFile(base, "utf8")), revision: parse(changed) };

    const listed = changes.map((change) => {
      const location = locationOf(change, pair);
      return [change.level, kindOf(change, pair), location && routeOf(location)];
    });

    const issue = "refunds/issuerefund";
    expect(listed).toEqual(
      expect.arrayContaining([
        ["major", "changed", `#/${issue}#${issue}/t=request&path=softdescriptor`],
        ["minor", "added", `#/${issue}#${issue}/t=request&path=reason`],
        [expect.stringMatching(/major|minor/), "removed", `#/${issue}`],
      ]),
    );
  });

  test("is one file with the whole docs, whose links lead into them", async () => {
    const out = join(folder, "review.html");
    const args = ["test/proofs/review/review.ts", "--sample", "0", "--contract", contract, "--out", out];
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });

    await using context = await (await sharedBrowser()).newContext();
    const page = await context.newPage();
    const watched = watch(page);
    await page.goto(`${pathToFileURL(out).href}#/review`);
    await headingOf(page, "Review of this change").waitFor();
    for (const name of ["Lint", "Score", "Survivors of mutation", "Clauses and decisions", "Changes"]) {
      await goTo(page, `#/review/${name.toLowerCase().replaceAll(" ", "-")}`);
      await headingOf(page, name).first().waitFor();
    }
    await page.getByRole("link", { name: "RefundRequest.softDescriptor" }).click();

    await headingOf(page, "Issue a refund").waitFor();
    expect(watched.faults).toEqual([]);
    expect(watched.requests.filter((url) => !url.startsWith("blob:"))).toEqual([pathToFileURL(out).href]);
  });
});
