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
import { preparedCsharp, preparedGo, preparedJava, preparedPhp, preparedRuby } from "./prepared-languages.ts";
import { preparedCurl, preparedFetch, preparedPython, toJavaScript, toPython } from "./prepared-samples.ts";

/** A sample as Redoc takes it (`x-codeSamples`). */
export type Sample = { readonly lang: string; readonly label: Label; readonly source: string };

const TOKEN = "sandbox_acme";

/** Operations that our client has. */
const CLIENT_CALLS = ["issueRefund", "subscribeToWebhooks"];

/** In the order of the menu. */
export const SAMPLE_LANGUAGES = [
  { lang: "Shell", label: "curl" },
  { lang: "JavaScript", label: "Our client" },
  { lang: "JavaScript", label: "fetch" },
  { lang: "Python", label: "Python" },
  { lang: "Go", label: "Go" },
  { lang: "Java", label: "Java" },
  { lang: "C#", label: "C#" },
  { lang: "PHP", label: "PHP" },
  { lang: "Ruby", label: "Ruby" },
] as const;

type Label = (typeof SAMPLE_LANGUAGES)[number]["label"];

const WRITE: Readonly<Record<Label, (call: Call) => string>> = {
  curl: prepared(preparedCurl, curlSample),
  "Our client": clientSample,
  fetch: prepared(preparedFetch, fetchSample),
  Python: prepared(preparedPython, pythonSample),
  Go: prepared(preparedGo, (call) => goSample(toSent(call))),
  Java: prepared(preparedJava, (call) => javaSample(toSent(call))),
  "C#": prepared(preparedCsharp, (call) => csharpSample(toSent(call))),
  PHP: prepared(preparedPhp, (call) => phpSample(toSent(call))),
  Ruby: prepared(preparedRuby, (call) => rubySample(toSent(call))),
};

/** The first form is for a call that needs others before it, the second for a call on its own. */
function prepared(withSteps: typeof preparedCurl, alone: (call: Call) => string): (call: Call) => string {
  return (call) => {
    const { method, url, body, before } = call;
    if (!before) return alone(call);
    const { origin } = new URL(url);
    const last = { method, path: url.slice(origin.length), body };
    return withSteps({ base: origin, token: TOKEN, before, last });
  };
}

/** The same call in every language; each sample is complete and runs unchanged against a sandbox. */
export function samplesOf(call: Call): Sample[] {
  const languages = SAMPLE_LANGUAGES.filter(
    ({ label }) => label !== "Our client" || CLIENT_CALLS.includes(call.operationId),
  );
  return languages.map(({ lang, label }) => ({ lang, label, source: WRITE[label](call) }));
}

function toSent(call: Call): Sent {
  const { method, url, body } = call;
  const json = body === undefined ? undefined : JSON.stringify(body, null, 2);
  return { method, url, headers: headersOf(call), json };
}

function headersOf({ body }: Call): [string, string][] {
  return [
    ["Authorization", `Bearer ${TOKEN}`],
    ...(body === undefined ? [] : [["Content-Type", "application/json"] as [string, string]]),
    ["Accept", "application/json"],
  ];
}

function curlSample(call: Call): string {
  const method = call.method === "GET" || call.body !== undefined ? "" : `-X ${call.method} `;
  const lines = [
    `curl -i ${method}'${call.url}'`,
    ...headersOf(call).map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(call.body === undefined
      ? []
      : [`  -d '${JSON.stringify(call.body, null, 2).replaceAll("'", "'\\''")}'`]),
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
