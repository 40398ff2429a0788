import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { conform as conformFrom } from "../../conformance/index.ts";
import { createKit } from "../../conformance/kit.ts";
import { type ConformOptions, DEFAULTS, readOptions } from "../../conformance/options.ts";
import { runConformance } from "../../conformance/run-conformance.ts";
import { receiverOf } from "../../conformance/webhook-receiver.ts";
import { runProgram } from "../../helpers/process.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";
import { createTempDir } from "../../helpers/temp-dir.ts";
import { elementsOf } from "../../helpers/xml-elements.ts";
import { FAULTY_RESPONSES } from "./faults-in-responses.ts";
import { startFaultyServer } from "./faulty-server.ts";
import { allOptions, failedIn, toArguments } from "./sandbox-options.ts";

/** Runs the command as its users do. */
const conform = (...args: readonly string[]) =>
  runProgram([process.execPath, "test/conformance/cli.ts", ...args]);

const NOWHERE = "http://127.0.0.1:1";

// Each run of the command sends hundreds of calls.
describe("npm run conform", { timeout: 120_000 }, () => {
  // A limit that the run exceeds, so that it has to wait.
  const server = useTestServer({ env: { RATE_LIMIT: "100" } });
  const folder = forSuite(createTempDir);
  let options: ConformOptions;

  beforeAll(async () => {
    // Twice the time of a delivery that is found by polling, without a notification.
    options = { ...(await allOptions(server.url)), burst: 5_000, sample: 1, timeoutMs: 120_000 };
  });

  test("passes our sandbox in every check when every option is given, and writes the reports", {
    timeout: 300_000,
  }, async () => {
    const [junitFile, jsonFile] = [join(folder.path, "conform.xml"), join(folder.path, "conform.json")];

    const { code, stdout, stderr } = await conform(
      ...toArguments(options),
      ...["--junit", junitFile, "--json", jsonFile],
    );

    const junit = await readFile(junitFile, "utf8");
    const json = await readFile(jsonFile, "utf8");
    const report = JSON.parse(json);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${report.checks.length} passed, 0 failed, 0 not run`);
    expect(report).toMatchObject({ url: server.url, failed: 0, notRun: 0, passed: report.checks.length });
    expect(report.subscriptionsMade).toBe(report.subscriptionsEnded);
    const elements = elementsOf(junit);
    expect(elements.filter((name) => name === "testcase")).toHaveLength(report.checks.length);
    expect(elements).not.toContain("failure");
    const secrets = [options.secondToken, options.unscopedToken, options.token, options.otherToken];
    for (const secret of secrets) expect(stdout + junit + json).not.toContain(secret);
  });

  test("ends with 1 when a check has failed, and reports the request, the response and the clause that it breaks", async () => {
    await using faulty = await startFaultyServer(server.url);
    faulty.plant(FAULTY_RESPONSES["calls the failure FAILED"]?.[1]);
    const junitFile = join(folder.path, "failed.xml");

    const { code, stdout } = await conform(
      ...toArguments({ ...options, url: faulty.url, only: ["first-status."] }),
      ...["--junit", junitFile],
    );

    const elements = elementsOf(await readFile(junitFile, "utf8"));
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ responds with 201 TERMINAL_FAILED to a refund of a payment whose debit failed/);
    expect(stdout).toMatch(/sent +POST \/v1\/refunds\n[\s\S]*"paymentId":"pay_failed"/);
    expect(stdout).toMatch(/received +201 after \d+ ms\n[\s\S]*"paymentStatus":"FAILED"/);
    expect(stdout).toMatch(/expected +201 with a refund that is TERMINAL_FAILED/);
    expect(stdout).toMatch(/clause 6\.5 Issued as TERMINAL_FAILED: A refund issued when/);
    expect(stdout).toContain("3 passed, 3 failed, 0 not run");
    expect(stdout).not.toContain(options.token);
    expect(elements.filter((name) => name === "failure")).toHaveLength(3);
  });

  test.each<[name: string, args: string[], message: RegExp]>([
    ["nothing is given", [], /^Say where the service is: --url/],
    ["there is no server", ["--url", NOWHERE, "--token", "a"], /can't be reached: .*ECONNREFUSED.* Start/],
  ])("ends with 2 and says what to do when %s", async (_name, args, message) => {
    const { code, stdout, stderr } = await conform(...args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test.each<[name: string, args: string[], message: RegExp]>([
    ["an option is unknown", ["--uri", NOWHERE], /unknown option '--uri'/],
    ["there is no token", ["--url", NOWHERE], /^Give an access token: --token … \(or CONFORM_TOKEN\)/],
    ["a payment has no known kind", ["--url", NOWHERE, "--payments", "old=a"], /settled, recent/],
    ["a token can't be sent", ["--other-token", "a\nb"], /^--other-token is empty.* no header/],
    [
      "a report can't be written",
      ["--junit", "/nowhere/x.xml"],
      /--junit .*It must be a file that can be wr/,
    ],
  ])("can't be run when %s", (_name, args, message) => {
    using _silent = vi.spyOn(process.stderr, "write").mockReturnValue(true); // where the help is printed

    expect(() => readOptions(args)).toThrow(message);
  });

  test.each([
    ["an address without http", "me:hidden@127.0.0.1", "must be an address"],
    ["an address with a password", "http://me:hidden@127.0.0.1", "must not contain a user name or password"],
    ["an address with a query", `${NOWHERE}/?api_key=hidden`, "must end with its host or path"],
  ])("refuses %s without repeating it, from an option or the environment", async (_name, url, message) => {
    const env = { CONFORM_URL: url, CONFORM_TOKEN: "a" };
    const program = [process.execPath, "test/conformance/cli.ts"];

    for (const { code, stdout, stderr } of [
      await conform("--receiver", url),
      await runProgram(program, { env }),
    ]) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(new RegExp(`^--(receiver|url) ${message}`));
      expect(stderr).not.toContain("hidden");
    }
  });

  test.each<[name: string, changes: object, message: RegExp]>([
    ["takes undefined for what is left out", { only: undefined, payments: undefined }, /ECONNREFUSED/],
    ["refuses a token that can't be sent", { otherToken: "a\n" }, /^otherToken is empty.* no header/],
    ["refuses an address without http", { url: "127.0.0.1" }, /^url must be an address/],
  ])("from a program %s", async (_name, changes, message) => {
    await expect(conformFrom({ url: NOWHERE, token: "a", ...changes })).rejects.toThrow(message);
  });

  test.each<[name: string, changes: Partial<ConformOptions>, message: RegExp]>([
    ["the token is refused", { token: "nobody" }, /refuses the token of --token/],
    ["a required check is unknown", { require: ["nothing."] }, /begins with nothing\./],
    [
      "no check has such an id",
      { only: ["key.", "nothing."] },
      /No check has an id that begins with nothing\./,
    ],
    [
      "a required check is left out",
      { only: ["key."], require: ["key.", "access."] },
      /No check that --only selects has an id that begins with access\./,
    ],
  ])("can't be run when %s", async (_name, changes, message) => {
    await expect(runConformance({ ...options, ...changes })).rejects.toThrow(message);
  });

  test("says of what is not given which option would run it, and runs the rest", async () => {
    const { url, timeoutMs, sample } = options;
    const report = await runConformance({ ...DEFAULTS, url, timeoutMs, sample });

    const reasons = Object.fromEntries(report.results.map(({ id, reason }) => [id, reason]));
    expect(failedIn(report)).toEqual([]);
    expect(reasons).toMatchObject({
      "first-status.recent": "give --token and --payments recent=…",
      "payment.foreign": expect.stringContaining("--other-token"),
      "delivery.signature": expect.stringContaining("--receiver"),
      "access.scope": "give --unscoped-token",
    });
    expect(reasons["access.unknown-token"]).toBeUndefined();
    expect(
      report.results.filter(({ outcome, missing }) => outcome === "not run" && missing.length === 0),
    ).toEqual([]);
  });
});

describe("the receiver of the conformance kit", () => {
  test("records deliveries with their size, and reads no more than 64 KiB at any path", async () => {
    const options = { ...DEFAULTS, url: NOWHERE, receiver: "http://127.0.0.1:0" };
    await using kit = createKit(options, readContract("openapi"));
    const receiver = await receiverOf(kit);
    const endpoint = receiver?.endpoint({ accepts: true });
    const { url = "" } = endpoint ?? {};
    const deliver = (to: string, bytes: number) =>
      fetch(to, { method: "POST", body: Buffer.alloc(bytes) }).then(
        ({ status }) => status,
        () => "closed",
      );

    expect(await deliver(url, 64 * 1024)).toBe(204);
    expect(await deliver(url, 16 * 1024 * 1024)).toBe("closed");
    expect(await deliver(`${url}/other`, 16 * 1024 * 1024)).toBe("closed");
    // Where the deliveries of an earlier run, or of anybody, could arrive.
    expect(await deliver(new URL("/hook-1", url).href, 1)).toBe(410);
    expect(endpoint?.deliveries.map(({ bytes }) => bytes.length)).toEqual([64 * 1024]);
  });
});
