import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readGenerated } from "../../../openapi/document/generated.ts";
import { ROOT } from "../../../scripts/command/root.ts";
import { run } from "../../../scripts/packages/run-program.ts";
import { findFreePort } from "../../helpers/network/local-server.ts";
import { READER_ENV, runProgram, type Settings } from "../../helpers/process.ts";
import { check, expectSame } from "../checks.ts";

/** The files of the guide. */
const FILES = join(ROOT, "docs/examples/exam");
const SCRIPT = "refunds-ci.sh";
const LIMIT_MS = 300_000;

/** The tests of a merchant who has little: one refund. */
const TEST = `import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

test("stores the refund that it issues", () => {
  const env = {
    ...process.env,
    ...{ CERTIFY_URL: process.env.SANDBOX_URL, CERTIFY_TOKEN: "sandbox_acme", CERTIFY_PAYMENT_ID: "pay_settled" },
    ...{ CERTIFY_AMOUNT: "5.00", CERTIFY_REFERENCE: \`order-\${Date.now()}\` },
  };
  execFileSync("node", ["refund.mjs"], { env });
  assert.equal(execFileSync("node", ["state.mjs"], { env, encoding: "utf8" }), "AUTHORIZED\\n");
});
`;

/** What breaks a merchant's build: a file with a mistake in it, or a setting, and the step that has to fail. */
const BREAKS: readonly Break[] = [
  {
    name: "a test that fails",
    step: "tests",
    edit: ["refund.mjs", "status: refund.paymentStatus", "status: 1"],
  },
  { name: "tests that meet too little", step: "coverage", env: { FAIL_UNDER: "80" } },
  {
    name: "a contract that no longer takes a field",
    step: "contract",
    edit: ["contract.json", '"softDescriptor":{', '"channel":{"type":"string"},"softDescriptor":{'],
    says: /^major {2}RefundRequest\.channel: field removed$/m,
  },
  {
    name: "a new requestKey for each run",
    step: "exam",
    edit: [
      "refund.mjs",
      "const { requestKey } = read(CERTIFY_REFERENCE)",
      "const requestKey = newRequestKey()",
    ],
  },
];

type Break = {
  readonly name: string;
  readonly step: string;
  readonly edit?: readonly [file: string, right: string, wrong: string];
  readonly env?: Settings;
  readonly says?: RegExp;
};

/** Runs the script that the guide gives to copy in a merchant's project, once as it is and once with each mistake. */
export async function checkMerchantCi(folder: string): Promise<void> {
  const env = await openMerchantProject(folder);
  const runScript = (args: readonly string[], more: Settings = {}) =>
    runProgram(["sh", SCRIPT, ...args], {
      cwd: folder,
      env: { ...READER_ENV, ...env, ...more },
      limitMs: LIMIT_MS,
    });

  await check(
    "each step of the guide's script passes, and reports what the contract has gained",
    async () => {
      const [, steps = ""] = /^STEPS="(.*)"$/m.exec(await readFile(join(FILES, SCRIPT), "utf8")) ?? [];
      try {
        for (const step of steps.split(" ")) {
          const { code, stdout, stderr } = await runScript([step]);
          if (code !== 0) throw new Error(`${step} ended with ${code}:\n${stdout}${stderr}`);
          if (step === "contract") expectMatch(stdout, /^minor {2}POST \/v1\/refunds 429: added$/m);
        }
      } finally {
        await runScript(["stop"]);
      }
      return steps;
    },
  );
  for (const { name, step, edit, env: more, says } of BREAKS) {
    await check(`the guide's script stops at the step "${step}" for ${name}`, async () => {
      const [file = "", right = "", wrong = ""] = edit ?? [];
      const text = edit && (await readFile(join(folder, file), "utf8"));
      if (text !== undefined) {
        if (!text.includes(right)) throw new Error(`${file} has no ${right}`);
        await writeFile(join(folder, file), text.replace(right, wrong));
      }
      const { code, stdout } = await runScript([], more);
      if (text !== undefined) await writeFile(join(folder, file), text);
      expectSame(
        "its exit code and last step",
        `${code} ${stdout.match(/^== .*$/gm)?.at(-1)}`,
        `1 == ${step}`,
      );
      if (says) expectMatch(stdout, says);
    });
  }
}

function expectMatch(text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`it does not print ${pattern}, but:\n${text}`);
}

/** The guide's files with a test, and a contract of before. Returns the settings of its free ports. */
async function openMerchantProject(folder: string): Promise<Settings> {
  const [port, receiverPort] = [String(await findFreePort()), String(await findFreePort())];
  await cp(FILES, folder, { recursive: true });
  const receiver = await readFile(join(FILES, "receiver.mjs"), "utf8");
  await writeFile(join(folder, "receiver.mjs"), receiver.replace("4000", receiverPort));
  await writeFile(join(folder, "system.test.mjs"), TEST);
  const contract = JSON.parse(readGenerated("openapi.json"));
  delete contract.paths["/v1/refunds"].post.responses[429];
  await writeFile(join(folder, "contract.json"), JSON.stringify(contract));
  await run("npm", ["install", "@refund-contract/client"], folder);
  return {
    ...{ SANDBOX_PORT: port, RECEIVER_URL: `http://127.0.0.1:${receiverPort}/webhooks` },
    ...{ TESTS: "node --test", FAIL_UNDER: "5" },
  };
}
