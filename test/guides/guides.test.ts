import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { HOME_FILE } from "../../scripts/docs/home.ts";
import { listSources } from "../../scripts/docs/pages.ts";
import { allChecks } from "../conformance/checks/all.ts";
import { blocksOf, isRunnable } from "./blocks.ts";
import { runPage } from "./run-page.ts";

/** Pages whose code is run by other tests; the pages say so. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  client: "test/scripts/packages/client.test.ts",
  "generate-your-own-client": "npm run proof -- generators",
  "clients-by-language": "npm run proof -- generators",
};

/** The file extensions that Node treats as modules even in a package created by `npm init -y`. */
const ENDINGS: Readonly<Record<string, string>> = { js: ".mjs", ts: ".mts", python: ".py" };

const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), "utf8");

const pages = await Promise.all(
  [{ slug: "README", file: "README.md" }, { slug: "home", file: HOME_FILE }, ...(await listSources())].map(
    async ({ slug, file }) => ({
      slug,
      blocks: blocksOf(await read(file)),
    }),
  ),
);

describe("the code on the pages", () => {
  const own = pages.filter(({ slug, blocks }) => !(slug in RUN_ELSEWHERE) && blocks.some(isRunnable));

  test.each(own)("of $slug does what the page says", async ({ blocks }) => {
    await runPage(blocks);
  });

  test("has a name that runs in any project, whatever that project's type is", () => {
    const wrong = pages.flatMap(({ slug, blocks }) =>
      blocks
        .filter(({ language }) => language in ENDINGS)
        .map(({ language, line, marks }) => ({
          block: `${slug}:${line}`,
          name: marks.get("file") ?? marks.get("run") ?? "",
          ending: ENDINGS[language] ?? "",
        }))
        .filter(({ name, ending }) => !name.endsWith(ending)),
    );

    expect(wrong).toEqual([]);
  });

  test("is left out only where it says so, for one of these reasons", () => {
    const left = pages.flatMap(({ slug, blocks }) =>
      blocks.filter(({ marks }) => marks.has("no-run")).map(({ marks }) => `${slug}: ${marks.get("no-run")}`),
    );

    expect(left).toEqual([
      "start: starts-a-sandbox",
      "rate-limits: starts-a-sandbox",
      "conformance-kit: needs-a-service",
      "conformance-kit: needs-a-clone",
      "conformance-kit: needs-a-service",
      "contract-tests-with-prism: installs-a-package",
      "contract-tests-with-prism: installs-a-package",
      "going-live: needs-containers",
      "going-live: needs-containers",
      "going-live: needs-containers",
      "going-live: needs-containers",
      "after-a-restore: needs-postgresql",
      "after-a-restore: needs-postgresql",
      "after-a-restore: needs-postgresql",
      "replicas: needs-postgresql",
      "beyond-one-machine: needs-postgresql",
      "beyond-one-machine: needs-postgresql",
    ]);
  });

  test("names every option of the conformance kit, and every group of its checks", async () => {
    const guide = await read("docs/guides/conformance-kit.md");
    const help = execFileSync(process.execPath, ["test/conformance/conform.ts", "--help"], {
      encoding: "utf8",
    });
    const options = [...help.matchAll(/^ {2}(?:-h, )?(--[\w-]+)/gm)].map(([, option]) => `\`${option}\``);
    const groups = allChecks(readContract("openapi")).map(({ group }) => group);

    const missing = [...options, ...new Set(groups)].filter((name) => !guide.includes(name));

    expect(missing).toEqual(["`--help`"]);
  });
});
