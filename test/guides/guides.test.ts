import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readContract } from "../../openapi/document/contract.ts";
import { HOME_FILE } from "../../scripts/docs/home.ts";
import { listSources } from "../../scripts/docs/pages.ts";
import { allChecks } from "../conformance/checks/all.ts";
import { findFreePort } from "../helpers/network/free-port.ts";
import { blocksOf, isRunnable } from "./blocks.ts";
import { createProjectFolder } from "./project-folder.ts";
import { runPage } from "./run-page.ts";

/** Pages whose code is run by other tests; the pages say so. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  client: "test/scripts/packages/client.test.ts",
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

  test("of the receiver in Python refuses what anybody can send, and serves others while one sends slowly", async () => {
    const page = pages.find(({ slug }) => slug === "receiving-webhooks");
    const { text = "" } = page?.blocks.find(({ marks }) => marks.get("file") === "receiver.py") ?? {};
    const port = await findFreePort();
    await using project = await createProjectFolder("http://127.0.0.1:9");
    await writeFile(join(project.folder, "receiver.py"), text.replace("4001", String(port)));
    await project.start("receiver.py", "python3", "receiver.py").untilPrinted(/ready/);
    const now = String(Math.floor(Date.now() / 1000));
    const statusOf = async (timestamp: string, signature: string, ...others: string[]) => {
      const socket = connect(port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      const headers = [`webhook-timestamp: ${timestamp}`, `webhook-signature: ${signature}`, ...others];
      // In Latin-1, as browsers and Node send it.
      socket.write(["POST / HTTP/1.1", ...headers, "", "{}"].join("\r\n"), "latin1");
      return /^HTTP\/1\.[01] (\d+)/.exec(String(await once(socket, "data").catch(String)))?.[1];
    };

    void statusOf(now, "v1,a", "content-length: 100");
    expect(await statusOf("²", "v1,a", "content-length: 2")).toBe("400");
    expect(await statusOf("1".repeat(5_000), "v1,a", "content-length: 2")).toBe("400");
    expect(await statusOf(now, "v1,é", "content-length: 2")).toBe("400");
    expect(await statusOf(now, "v1,a")).toBe("400");
    expect(await statusOf(now, "v1,a", "content-length: -1")).toBe("400");
    expect(await statusOf(now, "v1,a", "content-length: 99999999")).toBe("400");
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
    const help = execFileSync(process.execPath, ["test/conformance/cli.ts", "--help"], {
      encoding: "utf8",
    });
    const options = [...help.matchAll(/^ {2}(?:-h, )?(--[\w-]+)/gm)].map(([, option]) => `\`${option}\``);
    const groups = allChecks(readContract("openapi")).map(({ group }) => group);

    const missing = [...options, ...new Set(groups)].filter((name) => !guide.includes(name));

    expect(missing).toEqual(["`--help`"]);
  });
});
