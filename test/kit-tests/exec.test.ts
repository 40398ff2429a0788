/** The command `exec`, which runs a merchant's tests against a sandbox and judges what they missed. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { retryOf } from "../../server/sandbox/commands/exec-command.ts";
import { judge, type Seen } from "../../server/sandbox/exec/judge-run.ts";
import type { RequestBody } from "../../server/sandbox/sandbox-client.ts";
import { startSandbox } from "../../server/sandbox/start-sandbox.ts";
import { runProgram } from "../helpers/process.ts";
import { forSuite } from "../helpers/suite.ts";
import { createTempDir } from "../helpers/temp-dir.ts";
import { elementsOf } from "../helpers/xml-elements.ts";

const EXEC = [process.execPath, "server/sandbox/cli.ts", "exec"];

type NewFault = RequestBody<"armFault">;

const seen: Seen = { calls: [], attempts: [] };

describe("tests that run against a sandbox", () => {
  const sandbox = forSuite(() => {
    const watch = {
      onCall: (call: Seen["calls"][number]) => void seen.calls.push(call),
      onAttempt: (attempt: Seen["attempts"][number]) => void seen.attempts.push(attempt),
      onReset: () => {},
    };
    return startSandbox({ settings: { SERVE_DOCS: "false" } }, { watch });
  });
  let count = 0;

  /** Sends a refund for an order; 0 when there is no response. */
  async function send(order: string, key: string, change: object = {}): Promise<number> {
    const body = {
      paymentId: "pay_settled",
      amount: { currency: "USD", value: 1.5 },
      clientReferenceId: order,
    };
    const response = await fetch(`${sandbox.url}/v1/refunds`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.accessToken}`, "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, requestKey: key, ...change }),
      redirect: "manual",
    }).catch(() => undefined);
    return response?.status ?? 0;
  }
  const nobodys = { paymentId: "pay_of_nobody" };
  const [first, second] = [{ requestKey: "1" }, { requestKey: "2" }];

  test.for<[what: string, expected: string[], fault: NewFault | undefined, ...calls: object[]]>([
    ["one refund with one key", [], undefined, first],
    ["a lost response that is asked about", [], { kind: "CLOSED_AFTER" }, first, first],
    ["a second run for a refund that exists", [], undefined, first, first],
    ["a new key after a call that was refused", [], undefined, { ...first, ...nobodys }, second],
    ["two refunds of one order", ["refund.twice"], undefined, first, second],
    ["a new key after a lost response", ["refund.twice"], { kind: "CLOSED_AFTER" }, first, second],
    ["a new key after a request that was lost", ["refund.new-key"], { kind: "CLOSED_BEFORE" }, first, second],
    ["a new key after a 500", ["refund.new-key"], { kind: "INTERNAL_ERROR" }, first, second],
    ["a lost response that nobody asks about", ["refund.never-asked"], { kind: "CLOSED_AFTER" }, first],
    ["a 404 that is repeated", ["call.after-decision"], undefined, nobodys, nobodys],
    ["a refund that is asked for again and again", ["call.after-decision"], undefined, first, first, first],
    [
      "a 429 that is not waited for",
      ["call.too-early"],
      { kind: "RATE_LIMITED", retryAfter: 2 },
      first,
      first,
    ],
    ["a 503 that is waited for", [], { kind: "UNAVAILABLE", retryAfter: 0 }, first, first],
  ])("show %s", async ([, expected, fault, ...calls]) => {
    count += 1;
    seen.calls.length = 0;
    if (fault) await sandbox.faults.arm(fault);
    for (const { requestKey = "", ...change } of calls as Partial<typeof first>[])
      await send(`order-${count}`, `key-${count}-${requestKey}`, change);
    await sandbox.faults.clear();

    expect(judge(seen, retryOf).map(({ id }) => id)).toEqual(expected);
  });

  test("show nothing when three merchants have one key", async () => {
    seen.calls.length = 0;
    await send("order-of-three", "key-of-three");

    const calls = ["acme", "globex", "third"].flatMap((merchant) =>
      seen.calls.map((call) => ({ ...call, merchant })),
    );

    expect([calls.length, judge({ calls, attempts: [] }, retryOf)]).toEqual([3, []]);
  });
});

describe("the command exec", { timeout: 120_000 }, () => {
  const folder = forSuite(createTempDir);

  const TESTS = `
const { REFUNDS_SANDBOX_URL, REFUNDS_SANDBOX_TOKENS, REFUNDS_SANDBOX_SECRET, MISTAKE } = process.env;
const [token] = REFUNDS_SANDBOX_TOKENS.split(",");
const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };
const send = (requestKey) => fetch(REFUNDS_SANDBOX_URL + "/v1/refunds", { method: "POST", headers, signal: AbortSignal.timeout(4000),
  body: JSON.stringify({ paymentId: "pay_settled", amount: { currency: "USD", value: 5 }, clientReferenceId: "order-1", requestKey }) });
const ask = async (key) => (await send(key).catch(() => undefined))?.status;
let status = await ask("k-1");
for (const end = Date.now() + 8000; ![201, 409].includes(status) && Date.now() < end; ) {
  await new Promise((resolve) => setTimeout(resolve, 1100));
  status = await ask(MISTAKE === "key" ? "k-" + Date.now() : "k-1");
}
if (MISTAKE === "test") throw new Error("the test has failed");
if (!REFUNDS_SANDBOX_SECRET.startsWith("whsec_")) process.exit(3);
`;
  const exec = async (mistake: string, ...args: readonly string[]) => {
    const file = join(folder.path, "tests.mjs");
    await writeFile(file, TESTS);
    const command = [...EXEC, ...args, "--", process.execPath, file];
    return runProgram(command, { env: { ...process.env, MISTAKE: mistake } });
  };

  test("ends with 0 when nothing is found, says what was met in at most ten lines, and writes both reports", async () => {
    const [junit, html] = [join(folder.path, "junit"), join(folder.path, "html")];

    const args = ["--bad-day", "lost-after,silent,busy,tomorrow", "--require", "201,5%"];
    const { code, stdout, stderr } = await exec("", ...args, "--junit", junit, "--html", html);

    expect(code, stdout + stderr).toBe(0);
    const [, coverage = ""] = stdout.split(/(?=Of the contract)/);
    expect(coverage).toMatch(/^Of the contract your tests met \d+ of \d+ elements/);
    expect(coverage.trim().split("\n").length).toBeLessThanOrEqual(10);
    expect(stderr).toContain("bad day 4 of 4");
    const elements = elementsOf(await readFile(junit, "utf8"));
    expect([elements.filter((name) => name === "testsuite").length, elements.includes("failure")]).toEqual([
      5,
      false,
    ]);
    expect(await readFile(html, "utf8")).toContain("5 passed, 0 failed, 0 not run");
  });

  test("ends with 1 when a bad day shows two refunds, and tells it in plain words", async () => {
    const { code, stdout } = await exec("key", "--bad-day", "lost-before,lost-after");

    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(/✓ your tests/);
    expect(stdout).toMatch(
      /refund\.new-key: 5 of pay_settled \(clientReferenceId order-1\) was first requested with the key k-1/,
    );
    expect(stdout).toMatch(/refund\.twice: \d+ refunds were made of 5 of pay_settled/);
  });

  test("ends with the tests' own code when they fail, with 1 when too little was met, and with 2 when it can't run", async () => {
    const unknown = await exec("", "--require", "refund.lost");
    const [noDay, noFinding] = [
      await exec("", "--bad-day", "rain"),
      await exec("", "--ignore", "refund.thrice"),
    ];
    const missing = await runProgram([...EXEC, "--", "no-such-command"]);

    expect((await exec("test")).code).toBe(1);
    expect(await exec("", "--require", "refund.authorized")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("required: no test met refund.authorized"),
    });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("no element refund.lost")]);
    expect([noDay.code, noDay.stderr]).toEqual([2, expect.stringContaining("There is no bad day rain.")]);
    expect([noFinding.code, noFinding.stderr]).toEqual([
      2,
      expect.stringContaining("no finding refund.thrice"),
    ]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("there is no such command")]);
  });
});
