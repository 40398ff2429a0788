import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { headingsOf } from "../../../openapi/document/markdown-headings.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { VERSION } from "../../../server/process/command-line.ts";
import { REASONS } from "../../../server/sandbox/exec/judge-run.ts";
import { callerChecks } from "../../certify/caller/checks.ts";
import { commandHook } from "../../certify/hooks.ts";
import { readCommand } from "../../certify/options.ts";
import { receiverChecks } from "../../certify/receiver/examine-receiver.ts";
import { runProgram } from "../../helpers/process.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { elementsOf } from "../../helpers/xml-elements.ts";
import { SECRET, startMerchant } from "./faulty-merchant.ts";
import type { Mistake } from "./mistakes.ts";
import { exam, outcomes } from "./run-exam.ts";

const certify = (...args: readonly string[]) =>
  runProgram([process.execPath, "test/certify/cli.ts", ...args]);

const NOWHERE = "http://127.0.0.1:1";

describe("the command of the exam", { timeout: 60_000 }, () => {
  const merchant = forSuite(() => startMerchant("receiver: takes the last event for the truth"));
  const folder = forSuite(createTempDir);

  test("ends with 1 when a check has failed, says how to correct it, and writes reports without the secret", async () => {
    const files = ["junit", "json", "html"].map((name) => [`--${name}`, join(folder.path, name)]);
    const state = `curl -s "${merchant.url}/state?reference=$CERTIFY_REFERENCE"`;

    const { code, stdout } = await certify(
      ...["receiver", "--url", `${merchant.url}/webhooks`, "--secret", SECRET, "--state", state],
      ...["--settle", "0.2", "--only", "state", ...files.flat()],
    );

    const [junit = "", json = "", html = ""] = await Promise.all(
      files.map(([, file = ""]) => readFile(file, "utf8")),
    );
    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(/✗ keeps the latest status when events come in another order\n +state\.disorder/);
    expect(stdout).toMatch(/expected +that --state still prints AUTHORIZED.*sequence/);
    expect(stdout).toMatch(/breaks +decision D21 Request of a delivery/);
    expect(stdout).toContain("see       docs/guides/receiving-webhooks.md#rules-for-handlers");
    expect(stdout).toContain("7 passed, 1 failed, 0 not run");
    expect(elementsOf(junit).filter((name) => name === "failure")).toHaveLength(1);
    expect(JSON.parse(json)).toMatchObject({ passed: 7, failed: 1, notRun: 0 });
    expect(html).toContain("7 passed, 1 failed, 0 not run");
    expect(html).toContain("failed: state.disorder");
    expect(html).not.toMatch(/<script|src=|href=|url\(/);
    for (const text of [stdout, junit, json, html]) expect(text).not.toContain(SECRET);
  });

  test("ends with 3 when some had no option, which it names, and with 0 when that was declared", async () => {
    const args = ["receiver", "--url", `${merchant.url}/webhooks`, "--secret", SECRET];
    const { code, stdout } = await certify(...args, "--only", "event.types,restart,state");
    const declared = await certify(...args, "--only", "event.types,restart", "--without", "restart,state");

    expect(stdout).toContain("(not run: give --restart and --state)");
    expect(stdout).toContain("To run what was not run, give --state, --restart.");
    expect([code, stdout.trimEnd().split("\n").at(-1)]).toEqual([3, "1 passed, 0 failed, 10 not run"]);
    expect(declared.code).toBe(0);
  });

  test("fails a system that knows nothing of what it has accepted, and shows the first error of --state", async () => {
    const args = ["--url", `${merchant.url}/webhooks`, "--secret", SECRET, "--settle", "0"];
    const unknown = await exam(...args, "--state", "echo", "--only", "state.pending,state.repeated");
    const prepared = await exam(...args, "--state", "echo", "--prepare", "true", "--only", "state.pending");
    const stack = "printf 'at one\\n  ^\\nTypeError: no database\\n  at two\\n' >&2; exit 3";
    const broken = await exam(...args, "--state", stack, "--only", "state.pending");
    const history = await exam(...args, "--state", "echo PENDING, AUTHORIZED", "--only", "state.pending");

    expect(outcomes(unknown).failed).toEqual(["state.pending", "state.repeated"]);
    expect(unknown.results[0]?.failure?.message).toMatch(
      /you responded 204 and the refund is unknown afterwards; .*--prepare/,
    );
    expect(outcomes(prepared).failed).toEqual(["state.pending"]);
    expect(broken.results[0]?.failure?.received).toBe("it ended with 3: TypeError: no database");
    expect(history.results[0]?.failure).toMatchObject({
      message: expect.stringContaining("one status"),
      received: "PENDING, AUTHORIZED",
    });
  });

  test("ends at Ctrl-C with the command that it runs, and reports what ran", async () => {
    const file = join(folder.path, "pid");
    const run = `echo $$ > ${file}; kill -INT $PPID; exec sleep 600`;

    const { code, stdout, stderr } = await certify("caller", "--run", run, "--only", "refund.issued");

    expect([code, stdout.trimEnd().split("\n").at(-1)], stderr).toEqual([
      130,
      "0 passed, 0 failed, 1 not run",
    ]);
    const pid = Number(await readFile(file, "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  test.for<[receiver: Mistake, cause: RegExp]>([
    ["receiver: uses the secret as text", /responds 400 to every event\. It uses the secret as text/],
    [
      "receiver: takes seconds for milliseconds",
      /responds 400 to every event\. It reads webhook-timestamp as mill/,
    ],
    [
      "receiver: verifies JSON that Python has written",
      /responds 400 to every event\. It verifies JSON that it has wri/,
    ],
    ["receiver: redirects", /responds 308 to every event\. The service follows no redirect/],
    ["receiver: has another path", /responds 404 to every event\. Is \/webhooks its path/],
  ])("ends with 2 and one line for a %s", async ([mistake, cause]) => {
    await using other = await startMerchant(mistake);

    await expect(exam("--url", `${other.url}/webhooks`, "--secret", SECRET)).rejects.toThrow(cause);
  });

  test("warns of a receiver that is in time only just", async () => {
    await using slow = await startMerchant("receiver: takes most of the time");
    const args = ["--url", `${slow.url}/webhooks`, "--secret", SECRET, "--timeout", "1"];

    const { results, warnings } = await exam(...args, "--only", "event.late");

    expect([results[0]?.outcome, warnings]).toEqual([
      "passed",
      [expect.stringMatching(/^the slowest .* of 1 s$/)],
    ]);
  });

  test("ends with 2 and says what to do when no receiver is there", async () => {
    const { code, stdout, stderr } = await certify("receiver", "--url", NOWHERE, "--secret", "a");

    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/can't be reached: connection refused\. Start your receiver/);
  });
});

test.each([
  "test/certify/cli.ts caller",
  "test/conformance/cli.ts",
  "server/cli.ts admin",
  "server/sandbox/cli.ts exec",
  "server/sandbox/cli.ts listen",
])("%s --version prints the version", async (command) => {
  const { code, stdout } = await runProgram([process.execPath, ...command.split(" "), "--version"]);

  expect([code, stdout]).toEqual([0, `${VERSION}\n`]);
});

describe("the options of the exam", () => {
  const RECEIVER = ["receiver", "--url", NOWHERE, "--secret", "a"];
  const CALLER = ["caller", "--run", "true"];

  test.each<[name: string, args: string[], message: RegExp]>([
    ["the part is missing", [], /outputHelp/],
    ["the part is unknown", ["sender"], /unknown command 'sender'/],
    ["the receiver has no address", ["receiver"], /Say where the receiver is: --url/],
    ["the address holds a password", [...CALLER, "--state-url", "http://a:b@c"], /^--state-url must not/],
    ["there is no secret", ["receiver", "--url", NOWHERE], /Give the receiver's secret: --secret/],
    ["the secret is empty", ["receiver", "--url", NOWHERE, "--secret", ""], /--secret must have 1 to 256/],
    ["a time is none", [...RECEIVER, "--timeout", "soon"], /'--timeout <.* must be a number from 0.05/],
    ["a report is a folder", [...RECEIVER, "--html", "test"], /must be a file that can be.* a folder/],
    ["nothing issues refunds", ["caller"], /--run 'COMMAND' or --trigger-url URL/],
    [
      "the receiver of the caller has no secret",
      [...CALLER, "--url", NOWHERE],
      /Give the receiver's secret, too/,
    ],
  ])("are refused when %s", (_name, args, message) => {
    using _silent = vi.spyOn(process.stderr, "write").mockReturnValue(true); // where the help is printed

    expect(() => readCommand(args, "certify")).toThrow(message);
  });

  test.each([["--only"], ["--require"]])("are refused when %s names no check", async (option) => {
    await expect(exam("--url", NOWHERE, "--secret", "a", option, "nothing")).rejects.toThrow(
      /No check has an id that begins with nothing/,
    );
  });
});

describe("a command that the exam runs", () => {
  test("may leave a program in the background, which lives on and can go on printing", async () => {
    await using folder = await createTempDir();
    const [go, printed] = [join(folder.path, "go"), join(folder.path, "printed")];
    const program = `until [ -e ${go} ]; do sleep 0.05; done; echo at work && touch ${printed}`;

    const result = await commandHook(`(${program}) & echo restarted`, 60_000)({});
    await writeFile(go, "");

    expect(result).toEqual({ text: "restarted" });
    await expect.poll(() => existsSync(printed)).toBe(true);
  });

  test("is killed with all that it has started when it takes too long", async () => {
    const { text, problem } = await commandHook("sleep 60 & echo $!; wait", 500)({});

    expect(problem).toBe("it was still running after 0.5 s");
    const child = () => process.kill(Number(text), 0);
    await vi.waitFor(() => expect(child).toThrow("ESRCH"), 10_000);
  });
});

describe("each check of the exam", () => {
  const checks = [...receiverChecks(readContract("openapi")), ...callerChecks];

  test("names a section that a guide has, and an id of its own in its part", async () => {
    for (const { id, guide = "none.md" } of checks) {
      const [file = "", anchor] = guide.split("#");
      const text = await readFile(new URL(`../../../docs/guides/${file}`, import.meta.url), "utf8");
      const anchors = [undefined, ...headingsOf(text).map((heading) => heading.anchor)];
      expect(anchors, `${id}: ${guide}`).toContain(anchor);
    }
    for (const part of [receiverChecks(readContract("openapi")), callerChecks]) {
      expect(new Set(part.map(({ id }) => id)).size).toBe(part.length);
    }
  });

  test("has a clause or a decision, and each of the twelve public cases has a check that names it", async () => {
    for (const { id, sources } of checks) expect(sources, id).not.toHaveLength(0);
    const page = await readFile("docs/guides/refunds-paid-twice.md", "utf8");
    const told = page.split("\n\n").filter((paragraph) => paragraph.startsWith("**"));
    expect(told).toHaveLength(12);
    const reasons = new Map<string, string>(Object.entries(REASONS));
    for (const { id, cases = [] } of checks) reasons.set(id, `${reasons.get(id) ?? ""} ${cases}`);
    for (const paragraph of told) {
      const [, report] = /\[([\w-]+\/[\w-]+#\d+)\]/.exec(paragraph) ?? [];
      const named = [...paragraph.matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, name = ""]) => reasons.get(name));
      expect(named, paragraph).not.toContain(undefined);
      expect(named.join(" "), paragraph).toContain(report);
    }
  });
});
