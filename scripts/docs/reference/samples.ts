import type { Call } from "./calls.ts";
import {
  csharpSample,
  goSample,
  indent,
  javaSample,
  phpSample,
  rubySample,
  type Sent,
} from "./language-samples.ts";

/** A sample as Redoc takes it (`x-codeSamples`). */
export type Sample = { readonly lang: string; readonly label: Label; readonly source: string };

const TOKEN = "sandbox_acme";

/** Operations that our client has. */
const CLIENT_CALLS = ["issueRefund", "subscribeToWebhooks"];

/** In the order of the menu. */
export const SAMPLE_LANGUAGES = [
  { lang: "Shell", label: "curl", write: curlSample },
  { lang: "JavaScript", label: "Our client", write: clientSample },
  { lang: "JavaScript", label: "fetch", write: fetchSample },
  { lang: "Python", label: "Python", write: pythonSample },
  { lang: "Go", label: "Go", write: (call: Call) => goSample(toSent(call)) },
  { lang: "Java", label: "Java", write: (call: Call) => javaSample(toSent(call)) },
  { lang: "C#", label: "C#", write: (call: Call) => csharpSample(toSent(call)) },
  { lang: "PHP", label: "PHP", write: (call: Call) => phpSample(toSent(call)) },
  { lang: "Ruby", label: "Ruby", write: (call: Call) => rubySample(toSent(call)) },
] as const;

type Label = (typeof SAMPLE_LANGUAGES)[number]["label"];

/**
 * The same call in every language; each sample is complete and runs unchanged against a sandbox. Where a call needs others
 * before it, the sample for curl makes them, and the others show the id of the contract's example.
 */
export function samplesOf(call: Call): Sample[] {
  const languages = SAMPLE_LANGUAGES.filter(
    ({ label }) => label !== "Our client" || CLIENT_CALLS.includes(call.operationId),
  );
  return languages.map(({ lang, label, write }) => ({ lang, label, source: write(call) }));
}

function toSent(call: Call): Sent {
  const { method, url, body } = call;
  const json = body === undefined ? undefined : JSON.stringify(body, null, 2);
  return { method, url, headers: headersOf(call), json };
}

function headersOf({ body }: { readonly body?: unknown }): [string, string][] {
  return [
    ["Authorization", `Bearer ${TOKEN}`],
    ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
    ["Accept", "application/json"],
  ];
}

/** The calls before, each of which keeps in a variable what later ones take from its response, and then the call. */
function curlSample({ method, preparedUrl, body, before = [] }: Call): string {
  const { origin } = new URL(preparedUrl);
  const steps = before.map((step) => {
    const sent = { ...step, url: origin + step.path };
    if (!step.take) return writeCurl("-s -o /dev/null", sent);
    const { name } = step.take;
    return `${name}=$(${writeCurl("-s", sent)} |\n  sed 's/.*"${name}":"\\([^"]*\\).*/\\1/')`;
  });
  return [...steps, writeCurl("-i", { method, url: preparedUrl, body })].join("\n\n");
}

function writeCurl(flags: string, call: Pick<Call, "method" | "url"> & { readonly body?: unknown }): string {
  const { method, url, body } = call;
  const implied = method === "GET" || body !== undefined;
  const address = url.includes("{") ? `"${url.replaceAll(/\{(\w+)\}/g, "$$$1")}"` : `'${url}'`;
  const lines = [
    `curl ${flags} ${implied ? "" : `-X ${method} `}${address}`,
    ...headersOf(call).map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(" \\\n");
}

function clientSample({ operationId, url, body }: Call): string {
  return `import { createClient } from "@refund-contract/client";

const client = createClient({
  baseUrl: "${new URL(url).origin}",
  accessToken: "${TOKEN}",
});

const result = await client.${operationId}(${toJavaScript(body)});
console.log(result.status, result.body);`;
}

function fetchSample(call: Call): string {
  const headers = headersOf(call)
    .map(([name, value]) => `    ${name.includes("-") ? `"${name}"` : name}: "${value}",`)
    .join("\n");
  const body =
    call.body === undefined ? "" : `\n  body: JSON.stringify(${indent(toJavaScript(call.body), 2)}),`;
  return `const response = await fetch("${call.url}", {
  method: "${call.method}",
  headers: {
${headers}
  },${body}
});
console.log(response.status, await response.text());`;
}

function pythonSample(call: Call): string {
  const headers = headersOf(call)
    .map(([name, value]) => `        "${name}": "${value}",`)
    .join("\n");
  const data =
    call.body === undefined ? "" : `\n    data=json.dumps(${indent(toPython(call.body), 4)}).encode(),`;
  return `${data === "" ? "" : "import json\n"}from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${call.url}",
    method="${call.method}",
    headers={
${headers}
    },${data}
)
try:
    with urlopen(request) as response:
        print(response.status, response.read().decode())
except HTTPError as problem:
    print(problem.code, problem.read().decode())`;
}

/** A value as JavaScript writes it. */
function toJavaScript(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
}

/** A value as Python writes it. */
function toPython(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  const text = JSON.stringify(value, null, 4);
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false|null)\b/g,
    (found, quoted) => quoted ?? words[found],
  );
}
