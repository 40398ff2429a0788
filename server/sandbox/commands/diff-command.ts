import { readFile } from "node:fs/promises";
import { Option } from "@commander-js/extra-typings";
import { LEVELS, type Level } from "../../../openapi/diff/severity.ts";
import { isNode, type Node } from "../../../openapi/document/document-node.ts";
import { defineProgram } from "../../process/command-line.ts";

/** Defines the command that prints what has changed between a saved contract and that of a running sandbox or service. */
export function defineDiff() {
  return defineProgram(
    "diff",
    "Compares the contract that you have built on with the one that a sandbox or the service has now.",
  )
    .argument("<file>", "the contract that you have built on: its openapi.json, as you have saved it")
    .addOption(
      new Option("--url <url>", "where the present contract is served")
        .env("REFUNDS_SANDBOX_URL")
        .default("http://127.0.0.1:3000"),
    )
    .addOption(
      new Option("--fail-on <level>", "exit with 1 when a change is at least as severe")
        .choices([...LEVELS, "never"] as const)
        .default("major" as const),
    )
    .addHelpText(
      "after",
      "\nmajor: breaks programs that follow the contract. minor: something new. patch: wording and examples.",
    )
    .action(printDiff);
}

/** A server may accept a call and never respond. */
const RESPONSE_MS = 10_000;

/** One of the two contracts can't be read; the message says what to do. */
class NoContractError extends Error {
  override readonly name = "NoContractError";
}

/** Exits with 1 when a change is as severe as asked, and with 2 when the contracts can't be compared. */
async function printDiff(
  file: string,
  { url, failOn }: { url: string; failOn: Level | "never" },
): Promise<void> {
  try {
    const { href, text } = await fetchContract(url);
    const after = parseContract(text, href);
    const before = parseContract(await readSaved(file, href), file);
    // Loaded only by this command, because it would delay the start of a sandbox.
    const { findChanges } = await import("../../../openapi/diff/diff.ts");
    const { countLevels, FORMATS } = await import("../../../openapi/diff/report.ts");
    const changes = findChanges(before.document, after.document);
    const last =
      changes.length === 0
        ? `The contract is still that of version ${before.version}.`
        : `From version ${before.version} to ${after.version}: ${countLevels(changes)}.`;
    process.stdout.write(changes.length === 0 ? `${last}\n` : `${FORMATS.text(changes)}\n\n${last}\n`);
    const severe = failOn === "never" ? [] : LEVELS.slice(LEVELS.indexOf(failOn));
    if (changes.some(({ level }) => severe.includes(level))) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof NoContractError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

async function readSaved(file: string, href: string): Promise<string> {
  return readFile(file, "utf8").catch(() => {
    throw new NoContractError(`Can't read ${file}. Save the contract there: curl ${href} > ${file}`);
  });
}

async function fetchContract(url: string): Promise<{ href: string; text: string }> {
  const href = URL.canParse(url) ? new URL("/openapi.json", url).href : undefined;
  const read = async (response: Response) => (response.ok ? await response.text() : undefined);
  const text =
    href &&
    (await fetch(href, { signal: AbortSignal.timeout(RESPONSE_MS) })
      .then(read)
      .catch(() => undefined));
  if (href === undefined || text === undefined) {
    throw new NoContractError(
      `There is no contract at ${href ?? url}. Start a sandbox, or name one by --url.`,
    );
  }
  return { href, text };
}

function parseContract(text: string, source: string): { document: Node; version: string } {
  try {
    // A sandbox names its own address wherever the contract has one.
    const [{ url: address }] = JSON.parse(text).servers;
    const { servers: _, ...document } = JSON.parse(text.replaceAll(address, ""));
    if (isNode(document.paths) && typeof document.info.version === "string") {
      return { document, version: document.info.version };
    }
  } catch {} // it is no JSON, or no contract
  throw new NoContractError(
    `${source} is not a contract as JSON. Save /openapi.json, and not /openapi.yaml.`,
  );
}
