import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { runProgram } from "../../helpers/process.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const ADVISORY = "GHSA-aaaa-bbbb-cccc";
const FINDING = {
  id: 1,
  url: `https://github.com/advisories/${ADVISORY}`,
  title: "Made up",
  severity: "high",
  vulnerable_versions: "*",
  cwe: [],
  cvss: { score: 1, vectorString: null },
};
const ACCEPTED = { advisory: ADVISORY, package: "undici", reason: "not reached", until: "2999-01-01" };

/** A registry with this advisory about one of our packages, or with no advisory. */
function startRegistry(advisories: object | undefined) {
  return serveLocally((request, response) => {
    const isKnown = advisories && request.url?.endsWith("/advisories/bulk");
    response.writeHead(isKnown ? 200 : 405, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isKnown ? advisories : {}));
  });
}

test.each<[string, object | undefined, readonly object[], number, RegExp]>([
  ["fails for one that is not accepted", { undici: [FINDING] }, [], 1, /undici: high: Made up .*GHSA-aaaa/],
  ["passes for one that is accepted", { undici: [FINDING] }, [ACCEPTED], 0, /1 advisories, 1 accepted/],
  [
    "fails when the acceptance has run out",
    { undici: [FINDING] },
    [{ ...ACCEPTED, until: "2020-01-01" }],
    1,
    /1 advisories, 0/,
  ],
  ["passes without any", {}, [], 0, /0 advisories/],
  ["says that it was not run where the registry has none to give", undefined, [], 0, /Not run: the registry/],
])("the audit of advisories %s", async (_, advisories, accepted, code, output) => {
  await using registry = await startRegistry(advisories);
  const folder = await folderOfTest();
  const file = join(folder, "accepted.json");
  await writeFile(file, JSON.stringify(accepted));

  const { code: exit, stdout } = await runProgram(
    [process.execPath, "scripts/supply-chain/audit.ts", "--accepted", file],
    { env: { npm_config_registry: registry.url, npm_config_cache: join(folder, "cache") } },
  );

  expect([exit, stdout]).toEqual([code, expect.stringMatching(output)]);
});
