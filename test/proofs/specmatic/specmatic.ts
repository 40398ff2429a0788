import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isNode, type Node } from "../../../openapi/document/node.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { ROOT } from "../../../scripts/command/redocly.ts";
import type { ContractTester } from "../../conformance/command.ts";
import { ConformError } from "../../conformance/options.ts";
import { installPackages, runShell } from "../support/projects.ts";

const SOURCE = join(ROOT, "test/proofs/specmatic/packages");
const FOLDER = join(ROOT, ".cache/testers");
const JAR = join(FOLDER, "node_modules/specmatic/specmatic.jar");

/** The members of these keywords are names, not keywords. */
const NAMES = ["properties", "schemas", "responses", "headers", "requestBodies", "paths", "content"];

/** Specmatic's result. */
export type SpecmaticReport = {
  /** Requests that it made, each of which is a test. */
  readonly tests: number;
  readonly asExpected: number;
  /** Tests that fail with any correct server, by reason. */
  readonly explained: ReadonlyMap<string, number>;
  /** The other failures, as Specmatic prints them. */
  readonly failures: readonly string[];
};

/**
 * Has Specmatic test a service by the contract. It is downloaded from npm the first time.
 *
 * @throws ConformError when Java is missing, or Specmatic does not complete
 */
export const runSpecmatic: ContractTester = async ({ url, token, payments, sandbox }) => {
  if (token === undefined)
    throw new ConformError("Specmatic needs an access token with both scopes: --token");
  await runShell("java -version", ROOT).catch(() => {
    throw new ConformError("Specmatic needs Java 17 or later, and there is no java here.");
  });
  await installPackages(SOURCE, FOLDER);
  const response = await fetch(`${url}/openapi.json`);
  if (!response.ok) throw new ConformError(`${url}/openapi.json responded with ${response.status}.`);
  const contract = prepareContract((await response.json()) as Node, payments.settled);

  const reset = () =>
    fetch(`${url}/sandbox/reset`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  if (sandbox) await reset();
  const output = await withTempDir(async (folder) => {
    await writeFile(join(folder, "contract.json"), JSON.stringify(contract));
    const command = `java -jar ${JAR} test contract.json --testBaseURL=${url}`;
    // The variable with the token is named after the contract's security scheme; the exit code is 1 when a test failed.
    const env = { accessToken: token, SPECMATIC_GENERATIVE_TESTS: "true" };
    return runShell(`${command} || true`, folder, env);
  });
  if (sandbox) await reset();
  const report = readOutput(output);
  return { lines: describeSpecmatic(report), failed: report.failures.length };
};

/**
 * The contract, prepared for Specmatic: without examples, because it tries each of them with every mutation, some 70,000
 * requests; and with valid values where it would make up invalid ones.
 */
export function prepareContract(contract: Node, paymentId = "pay_settled"): Node {
  const prepared = withoutExamples(contract) as Node;
  const { Amount, RefundRequest, SubscriptionRequest, ...others } = schemasOf(prepared);
  if (!Amount || !RefundRequest || !SubscriptionRequest)
    throw new ConformError("The contract is not that of refunds.");
  // Different values for the two spellings are refused.
  delete RefundRequest.clientRefefenceId;
  RefundRequest.paymentId = { type: "string", enum: [paymentId] };
  SubscriptionRequest.url = { type: "string", enum: ["https://merchant.example.com/webhooks"] };
  // It tries each list with every name, and a merchant can have 100 subscriptions.
  for (const { details } of Object.values(others)) if (details) details.maxItems = 1;
  return prepared;
}

type Properties = Record<string, Record<string, unknown>>;

/** The properties of each schema, by its name. */
function schemasOf(contract: Node): Record<string, Properties> {
  const { schemas } = contract.components as { schemas: Record<string, { properties?: Properties }> };
  return Object.fromEntries(Object.entries(schemas).map(([name, { properties = {} }]) => [name, properties]));
}

/**
 * From this pattern Specmatic generates strings with lone surrogates, which are refused, although no portable pattern can forbid
 * them.
 */
const ANY_TEXT = "^[^\\x00]*$";

function withoutExamples(part: unknown, below = ""): unknown {
  if (Array.isArray(part)) return part.map((item) => withoutExamples(item));
  if (!isNode(part)) return part;
  const left = Object.entries(part).filter(
    ([key, value]) =>
      NAMES.includes(below) || !(["examples", "example", "webhooks"].includes(key) || value === ANY_TEXT),
  );
  return Object.fromEntries(left.map(([key, value]) => [key, withoutExamples(value, key)]));
}

const PASSED = "has SUCCEEDED";
const FAILED = "has FAILED";

/** @throws ConformError when its output contains no result */
export function readOutput(output: string): SpecmaticReport {
  const [, tests, asExpected] = /^Tests run: (\d+), Successes: (\d+)/m.exec(output) ?? [];
  if (tests === undefined)
    throw new ConformError(`Specmatic did not come to its end:\n${output.slice(-2_000)}`);
  const blocks = output
    .split(/\n-{10,}\n/)
    .filter((block) => block.includes(FAILED) && !block.includes(PASSED));
  const explained = new Map<string, number>();
  const failures: string[] = [];
  for (const block of blocks) {
    const reason = reasonOf(block);
    if (reason === undefined) failures.push(block.trim());
    else explained.set(reason, (explained.get(reason) ?? 0) + 1);
  }
  return { tests: Number(tests), asExpected: Number(asExpected), explained, failures };
}

/** The reason why a conforming service fails a test; undefined when it should pass. */
function reasonOf(block: string): string | undefined {
  if (!block.includes("+ve  Scenario")) return undefined;
  const [, status] = /^ *(\d{3}) [A-Z]/m.exec(block.slice(block.indexOf("Response at"))) ?? [];
  const pointers = Array.from(block.matchAll(/"pointer": "([^"]*)"/g), ([, pointer]) => pointer);
  if (status === "400" && pointers.length === 1 && pointers[0] === "/amount/value")
    return "a third digit in an amount, which only x-fraction-digits forbids";
  if (status === "404") return "a made-up paymentId";
  if (status !== "409") return undefined;
  return block.includes("SUBSCRIPTION_LIMIT")
    ? "more than 100 subscriptions of one merchant"
    : "the shortest or the longest requestKey, sent before";
}

/** Lines for a terminal. */
export function describeSpecmatic({ tests, asExpected, explained, failures }: SpecmaticReport): string[] {
  const reasons = Array.from(explained, ([reason, count]) => `  ${count} false alarms: ${reason}`);
  const falseAlarms = [...explained.values()].reduce((sum, count) => sum + count, 0);
  return [
    ...failures.map((failure) => `${failure}\n`),
    `Specmatic made ${tests} tests.`,
    `  ${asExpected} had the response that it expected`,
    ...reasons,
    `${asExpected} passed, ${failures.length} failed, ${falseAlarms} false alarms`,
  ];
}
